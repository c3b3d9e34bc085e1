import type { Sender } from "../domain/target.ts";
import type { TargetTools } from "../office/office.ts";
import type { Ports } from "../store/ports.ts";

/** Loads the code of a kind of target at first use: few commands need any, and few providers all. */
export function targetTools({ clock, random }: Pick<Ports, "clock" | "random">): TargetTools {
  return {
    refuseUrl: async (url, allowPrivate) => (await import("./webhook.ts")).refuseUrl(url, allowPrivate),
    newSecret: async () => (await import("./webhook.ts")).newWebhookSecret(random),
    createSender({ name, config, secrets }, { zone, currencyExponent }) {
      switch (config.kind) {
        case "webhook":
          return onceLoaded(async () => {
            const { createWebhookSender } = await import("./webhook.ts");
            return createWebhookSender(config, secrets, { zone, currencyExponent, clock });
          });
        case "radius":
          return onceLoaded(async () => {
            const { createRadiusSender } = await import("./radius.ts");
            return createRadiusSender(config, { zone });
          });
        case "feed":
          throw new Error(`nothing is sent to ${name}: a feed is read`);
      }
    },
    async reconcileRadius(...given) {
      const { reconcileRadius } = await import("./radius.ts");
      return reconcileRadius(...given);
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
