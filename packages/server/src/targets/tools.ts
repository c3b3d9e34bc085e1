import type { AddressList } from "../domain/address-list.ts";
import { eventMessage } from "../domain/event.ts";
import { readRadiusAddress } from "../domain/radius.ts";
import type { SessionTools } from "../domain/sessions.ts";
import { type PartnersFact, readSubject } from "../domain/subject.ts";
import type { OpenExchange, Poster, Sender, Target } from "../domain/target.ts";
import type { TargetTools } from "../office/office.ts";
import type { Ports } from "../store/ports.ts";
import type { TellerTools } from "../workers/deliver-due.ts";

/**
 * Loads the code of a kind of target at first use: few commands need any, and few providers all.
 * @param privateTargets private addresses that targets may have; undefined means none.
 */
export function targetTools(
  { clock, random }: Pick<Ports, "clock" | "random">,
  privateTargets: AddressList | undefined,
): TargetTools & TellerTools {
  const guarding = async () => (await import("./address-guard.ts")).addressGuard(privateTargets);
  const createPoster = ({ name, partner, config, secrets }: Target): Poster => {
    if (config.kind !== "webhook") throw new Error(`${name} is no webhook`);
    let loading: Promise<Poster> | undefined;
    const loaded = () => {
      loading ??= import("./webhook.ts").then(async (webhook) =>
        webhook.createPoster(config, secrets, { readsAnswer: partner === undefined, clock, guard: await guarding() }),
      );
      return loading;
    };
    return {
      post: async (...given) => (await loaded()).post(...given),
      close: async () => (await loading)?.close(),
    };
  };
  return {
    async problemOf(config) {
      if (config.kind === "feed") return undefined;
      const guard = await guarding();
      if (config.kind === "webhook") {
        const problem = await (await import("./webhook.ts")).refuseUrl(config.url, guard);
        return problem === undefined ? undefined : { field: "webhook.url", problem };
      }
      const address = readRadiusAddress(config.database);
      const problem = typeof address === "string" ? address : await guard.problemOf(address.host);
      if (problem !== undefined) return { field: "radius.database", problem };
      return (await import("./radius-sessions.ts")).deviceProblem(config, guard);
    },
    newSecret: async () => (await import("./webhook.ts")).newWebhookSecret(random),
    createPoster,
    createTeller(target, store) {
      const { partner, name } = target;
      if (partner === undefined) throw new Error(`${name} is told of events`);
      const poster = createPoster(target);
      return {
        async prepare(begun, number) {
          const { factMessages } = await import("../partner/extension/facts.ts");
          const facts = begun.map(({ subject }) => readSubject(subject) as PartnersFact);
          const messages = await factMessages(store, partner, facts, number);
          return begun.map((due, index) => {
            const message = messages[index];
            const post = async (signal: AbortSignal, exchange: OpenExchange) => {
              if (message !== undefined) await poster.post(message, signal, exchange);
              return { waits: false };
            };
            return { due, send: message && post };
          });
        },
        close: () => poster.close(),
      };
    },
    createSender(target, store) {
      const { name, config } = target;
      const { zone, currencyExponent } = store.provider;
      switch (config.kind) {
        case "webhook": {
          const poster = createPoster(target);
          return {
            send: (event, signal, exchange = {}) =>
              poster.post(eventMessage(event, zone, currencyExponent), signal, exchange),
            close: () => poster.close(),
          };
        }
        case "radius":
          return onceLoaded(async () => {
            const { createRadiusSender } = await import("./radius.ts");
            return createRadiusSender(config, { zone, guard: await guarding() });
          });
        case "feed":
          throw new Error(`nothing is sent to ${name}: a feed is read`);
      }
    },
    createSessionTools({ config }) {
      if (config.kind !== "radius") throw new Error("only RADIUS has sessions");
      let loading: Promise<SessionTools> | undefined;
      const loaded = () => {
        loading ??= import("./radius-sessions.ts").then(async ({ createSessionTools }) =>
          createSessionTools(config, { clock, guard: await guarding() }),
        );
        return loading;
      };
      return {
        open: async (...given) => (await loaded()).open(...given),
        states: async (...given) => (await loaded()).states(...given),
        end: async (...given) => (await loaded()).end(...given),
        close: async () => (await loading)?.close(),
      };
    },
    async reconcileRadius(ports, ...given) {
      const { reconcileRadius } = await import("./radius.ts");
      return reconcileRadius({ ...ports, guard: await guarding() }, ...given);
    },
  };
}

/** A sender that is loaded at its first event. */
function onceLoaded(load: () => Promise<Sender>): Sender {
  let loading: Promise<Sender> | undefined;
  const loaded = () => {
    loading ??= load();
    return loading;
  };
  return {
    send: async (...given) => (await loaded()).send(...given),
    close: async () => (await loading)?.close(),
  };
}
