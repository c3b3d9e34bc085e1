import { type AddressInfo, Server as NetServer } from "node:net";
import type { FastifyInstance } from "fastify";
import type { Config } from "../config.ts";
import { buildApp, type Phase } from "../http/app.ts";
import { TokenUses } from "../operations/token-uses.ts";
import { listening } from "./listen.ts";
import { type OpenedStore, serveMetrics } from "./metrics.ts";
import type { Runtime, ServiceLog } from "./runtime.ts";

/** How long kept-alive sockets have to send one more request and be told that they end. */
const FAREWELL_MS = 300;

/** The service, listening. */
export interface RunningService {
  /** Where, without a slash at its end. */
  readonly url: string;
  /** Where its metrics are; undefined where none are served. */
  readonly metricsUrl: string | undefined;
  /** Finishes what is in hand, within the deadline, and closes the store. */
  readonly stop: (options: { readonly drainSeconds: number }) => Promise<void>;
}

/** Starts the service on a store, which is the service's from then on, even where it cannot start. */
export async function startService(
  runtime: Runtime,
  config: Config,
  opened: OpenedStore,
  { logger, logLine }: ServiceLog,
): Promise<RunningService> {
  const { clock, random } = runtime;
  const { store, metrics } = opened;
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
  // Fastify would say in its own words that it listens, once for each address; serve says it once, with the URL.
  const { level } = logger;
  logger.level = "warn";
  // First: whoever asked for metrics and cannot have them is to hear of it before partners are served.
  const metricsServer = await serveMetrics(opened, config).catch(async (error: unknown) => {
    await store.close();
    throw error;
  });
  try {
    await listen(app, config);
  } catch (error) {
    await metricsServer?.close();
    await store.close();
    throw error;
  } finally {
    logger.level = level;
  }
  tokenUses.keepWriting(runtime.sleep);
  // A connection that cannot be taken is no reason to end the service.
  app.server.on("error", (error) => logger.error({ err: error }, "a connection could not be taken"));
  return {
    url: urlOf(app),
    metricsUrl: metricsServer?.url,
    async stop({ drainSeconds }) {
      phase = "draining";
      await runtime.sleep(drainSeconds * 1000);
      // To Node, a socket whose next request is still on its way is idle, and would be cut. So first no more
      // are taken, and those that are there get a moment to be told, with an answer, that they end.
      phase = "closing";
      NetServer.prototype.close.call(app.server);
      await runtime.sleep(FAREWELL_MS);
      sockets.destroyIdle();
      const closed = app.close();
      const deadline = new AbortController();
      const inTime = await Promise.race([
        closed.then(() => true),
        runtime.sleep(config.shutdownSeconds * 1000, deadline.signal).then(() => false),
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

function listen(app: FastifyInstance, { host, port }: Config): Promise<unknown> {
  return listening(app.listen({ host, port }), { host, port, hostSetting: "host", portSetting: "port" });
}

function urlOf(app: FastifyInstance): string {
  const { address, family, port } = app.server.address() as AddressInfo;
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}
