import { type AddressInfo, Server as NetServer } from "node:net";
import type { FastifyInstance } from "fastify";
import { type Config, SETTINGS } from "../config.ts";
import { buildApp, type Phase } from "../http/app.ts";
import type { Metrics, MetricsServer } from "../metrics/metrics.ts";
import { TokenUses } from "../services/partner/token-uses.ts";
import type { Store } from "../store/store.ts";
import { CommandFailed, type Runtime, type ServiceLog } from "./runtime.ts";

/** How long kept-alive sockets have to send one more request and be told that they end. */
const FAREWELL_MS = 300;

/** The service, listening. */
export interface RunningService {
  readonly store: Store;
  /** Where, without a slash at its end. */
  readonly url: string;
  /** Where its metrics are; undefined where none are served. */
  readonly metricsUrl: string | undefined;
  /** Resolves with the name of the signal. */
  readonly askedToStop: Promise<string>;
  /** Finishes what is in hand, within the deadline, and closes the store. */
  readonly stop: (options: { readonly drainSeconds: number }) => Promise<void>;
}

/** Opens the store and serves from it. @throws CommandFailed where a port or address cannot be had. */
export async function startService(runtime: Runtime, config: Config, log: ServiceLog): Promise<RunningService> {
  const { logger } = log;
  const metrics = config.metricsPort === undefined ? undefined : await runtime.createMetrics(config);
  const store = await runtime.openStore(config, {
    serves: true,
    observeBatch: metrics?.observeBatch,
    observeCheckpoints: (cause) => {
      if (cause === undefined) logger.info("the log of the database is written into its file again");
      else logger.warn({ cause }, "the log of the database cannot be written into its file, and grows");
    },
  });
  const askedToStop = runtime.untilAskedToStop();
  try {
    return { store, askedToStop, ...(await serveFrom(store, metrics, runtime, config, log)) };
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function serveFrom(
  store: Store,
  metrics: Metrics | undefined,
  { clock, random, sleep }: Runtime,
  config: Config,
  { logger, logLine }: ServiceLog,
): Promise<Omit<RunningService, "store" | "askedToStop">> {
  let phase: Phase = "serving";
  const tokenUses = new TokenUses({
    store,
    onFailure: (error) => {
      const cause = error instanceof Error ? error.message : String(error);
      logger.warn({ cause }, "when tokens were last used could not be written yet");
    },
  });
  const { app, sockets } = await buildApp({
    ports: { store, clock, random, tokenUses, observer: metrics?.observer },
    trustedProxies: config.trustedProxies,
    prefix: config.prefix,
    lapsedDays: config.lapsedDays,
    retirements: { "v1.0.0": { deprecatedAt: config.v100DeprecatedOn, sunsetAt: config.v100SunsetOn } },
    logger,
    logLine,
    phase: () => phase,
  });
  // First: whoever asked for metrics and cannot have them is to hear of it before partners are served.
  const metricsServer = await serveMetrics(store, metrics, config);
  try {
    await listening(app.listen({ host: config.host, port: config.port }), config, "host", "port");
  } catch (error) {
    await metricsServer?.close();
    throw error;
  }
  tokenUses.keepWriting(sleep);
  // A connection that cannot be taken is no reason to end the service.
  app.server.on("error", (error) => logger.error({ err: error }, "a connection could not be taken"));
  return {
    url: urlOf(app),
    metricsUrl: metricsServer?.url,
    async stop({ drainSeconds }) {
      phase = "draining";
      await sleep(drainSeconds * 1000);
      // To Node, a socket whose next request is still on its way is idle, and would be cut. So first no more
      // are taken, and those that are there get a moment to be told, with an answer, that they end.
      phase = "closing";
      NetServer.prototype.close.call(app.server);
      await sleep(FAREWELL_MS);
      sockets.destroyIdle();
      const closed = app.close();
      const deadline = new AbortController();
      const inTime = await Promise.race([
        closed.then(() => true),
        sleep(config.shutdownSeconds * 1000, deadline.signal).then(() => false),
      ]);
      deadline.abort();
      if (!inTime) {
        logger.warn("requests that were still in hand at the deadline are cut off");
        sockets.destroyAll();
        await closed;
      }
      await metricsServer?.close();
      await tokenUses.close();
      await store.close();
    },
  };
}

async function serveMetrics(
  store: Store,
  metrics: Metrics | undefined,
  config: Config,
): Promise<MetricsServer | undefined> {
  const { metricsHost: host, metricsPort: port } = config;
  if (metrics === undefined || port === undefined) return undefined;
  return listening(metrics.serve(store, { host, port }), config, "metricsHost", "metricsPort");
}

/** @throws CommandFailed, which says what to change, where it cannot listen. */
async function listening<Result>(
  listened: Promise<Result>,
  config: Config,
  host: "host" | "metricsHost",
  port: "port" | "metricsPort",
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

function urlOf(app: FastifyInstance): string {
  const { address, family, port } = app.server.address() as AddressInfo;
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}
