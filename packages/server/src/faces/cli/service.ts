import { type Config, SETTINGS } from "../../config.ts";
import type { Target } from "../../domain/target.ts";
import { buildApp, type Phase } from "../../partner/app.ts";
import { AttemptNotes } from "../../partner/attempts.ts";
import { TokenUses } from "../../partner/authenticate.ts";
import type { Observer } from "../../partner/observer.ts";
import type { ProviderSettings, Store } from "../../store/store.ts";
import type { ServiceState } from "../../system/service-state.ts";
import { type DeliveryObserver, startDelivering } from "../../workers/deliver-events.ts";
import { startTellingEnds } from "../../workers/tell-ends.ts";
import { CommandFailed, type Runtime, type ServiceLog } from "./runtime.ts";

/** How long kept-alive sockets have to send one more request and be told that they end. */
const FAREWELL_MS = 300;
/** Of the name by which a process holds leases. */
const HOLDER_BYTES = 9;

/** A service that runs. */
export interface Service {
  /** Where, without a slash at its end. */
  readonly url: string;
  /** Where its metrics are; undefined where none are served. */
  readonly metricsUrl: string | undefined;
  /** Where its console is; undefined where none is served. */
  readonly consoleUrl: string | undefined;
  readonly provider: ProviderSettings;
  /** False where nobody can call; also where the store could not tell. */
  readonly lacksPartners: boolean;
  /** The same, of the console. */
  readonly lacksStaff: boolean;
  /** Resolves with the name of the signal. */
  readonly askedToStop: Promise<string>;
  readonly stop: Stop;
}

/** Finishes what is in hand, within the deadline, and closes the store. */
type Stop = (options: { readonly drainSeconds: number }) => Promise<void>;

/** A store that is away by now is told of at /readyz. */
export async function lackingOf({
  partners,
  staff,
}: Pick<Store, "partners" | "staff">): Promise<Pick<Service, "lacksPartners" | "lacksStaff">> {
  const isEmpty = async (list: Promise<readonly unknown[]>) => (await list.catch(() => undefined))?.length === 0;
  return { lacksPartners: await isEmpty(partners.list()), lacksStaff: await isEmpty(staff.list()) };
}

export interface ServingParts {
  readonly store: Store;
  readonly observer: Observer | undefined;
  readonly deliveryObserver: DeliveryObserver | undefined;
  readonly state: ServiceState;
}

/** Serves from a store that is open. @throws CommandFailed where a port or address cannot be had. */
export async function serveFrom(
  { clock, random, stopwatch, sleep, targets }: Runtime,
  config: Config,
  { logger, logLine }: ServiceLog,
  { store, observer, deliveryObserver, state }: ServingParts,
): Promise<Pick<Service, "url"> & { readonly stop: Stop }> {
  let phase: Phase = "serving";
  const warnOf = (message: string) => (error: unknown) => {
    const cause = error instanceof Error ? error.message : String(error);
    logger.warn({ cause }, message);
  };
  const tokenUses = new TokenUses({
    store,
    onFailure: warnOf("when tokens were last used could not be written yet"),
  });
  const attempts = new AttemptNotes({ store, onFailure: warnOf("refused calls could not be noted") });
  const app = buildApp({
    ports: { store, clock, random, tokenUses, observer },
    stopwatch,
    trustedProxies: config.trustedProxies,
    prefix: config.prefix,
    publicUrl: config.publicUrl,
    lapsedDays: config.lapsedDays,
    retirements: { "v1.0.0": { deprecatedAt: config.v100DeprecatedOn, sunsetAt: config.v100SunsetOn } },
    log: (level, fields, message) => logger[level](fields, message),
    logLine,
    phase: () => phase,
    attempts,
    state,
  });
  const url = await listening(app.listen({ host: config.host, port: config.port }), config, "host", "port");
  tokenUses.keepWriting(sleep);
  attempts.keepWriting(sleep);
  const workerPorts = {
    ...{ store, clock, random, sleep, observer: deliveryObserver },
    holder: Buffer.from(random(HOLDER_BYTES)).toString("hex"),
    createSender: (target: Target) => targets.createSender(target, store.provider),
    log: (level: "info" | "warn", fields: object, message: string) => logger[level](fields, message),
  };
  const workers = [startDelivering(workerPorts), startTellingEnds(workerPorts)];
  // A connection that cannot be taken is no reason to end the service.
  app.server.on("error", (error) => logger.error({ err: error }, "a connection could not be taken"));
  return {
    url,
    async stop({ drainSeconds }) {
      phase = "draining";
      const handedOver = Promise.all(workers.map((worker) => worker.stop()));
      await sleep(drainSeconds * 1000);
      // To Node, a socket whose next request is still on its way is idle, and would be cut. So first no more
      // are taken, and those that are there get a moment to be told, with an answer, that they end.
      phase = "closing";
      app.stopListening();
      await sleep(FAREWELL_MS);
      const closed = app.close();
      const deadline = new AbortController();
      const inTime = await Promise.race([
        closed.then(() => true),
        sleep(config.shutdownSeconds * 1000, deadline.signal).then(() => false),
      ]);
      deadline.abort();
      if (!inTime) {
        logger.warn("requests that were still in hand at the deadline are cut off");
        app.destroyAll();
        await closed;
      }
      await handedOver;
      await tokenUses.close();
      await attempts.close();
      await store.close();
    },
  };
}

/** @throws CommandFailed, which says what to change, where it cannot listen. */
export async function listening<Result>(
  listened: Promise<Result>,
  config: Config,
  host: "host" | "metricsHost" | "consoleHost",
  port: "port" | "metricsPort" | "consolePort",
): Promise<Result> {
  try {
    return await listened;
  } catch (error) {
    const [byHost, byPort] = [SETTINGS[host], SETTINGS[port]];
    throw new CommandFailed(
      `cannot listen on ${config[host]}, port ${config[port]}: ${(error as Error).message}. Choose others with --${byHost.flag} or ${byHost.env}, --${byPort.flag} or ${byPort.env}`,
    );
  }
}
