import { type AddressInfo, Server as NetServer } from "node:net";
import type { FastifyInstance } from "fastify";
import type { Config } from "../config.ts";
import { buildApp, type Phase } from "../http/app.ts";
import type { Store } from "../store/store.ts";
import { CommandFailed, type Runtime, type ServiceLog } from "./runtime.ts";

/** How long kept-alive sockets have to send one more request and be told that they end. */
const FAREWELL_MS = 300;

/** The service, listening. */
export interface RunningService {
  /** Where, without a slash at its end. */
  readonly url: string;
  /** Finishes what is in hand, within the deadline, and closes the store. */
  readonly stop: (options: { readonly drainSeconds: number }) => Promise<void>;
}

/** Starts the service on a store, which is the service's from then on, even where it cannot start. */
export async function startService(
  runtime: Runtime,
  config: Config,
  store: Store,
  { logger, logLine }: ServiceLog,
): Promise<RunningService> {
  const { clock, random } = runtime;
  let phase: Phase = "serving";
  const { app, sockets } = await buildApp({
    ports: { store, clock, random },
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
  try {
    await listen(app, config);
  } catch (error) {
    await store.close();
    throw error;
  } finally {
    logger.level = level;
  }
  return {
    url: urlOf(app),
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
      await store.close();
    },
  };
}

async function listen(app: FastifyInstance, { host, port }: Config): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE")
      throw new CommandFailed(`port ${port} of ${host} is in use: choose another with --port or TOPUPD_PORT`);
    if (code === "EACCES")
      throw new CommandFailed(
        `port ${port} of ${host} is not allowed to this user: choose another with --port or TOPUPD_PORT`,
      );
    if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
      throw new CommandFailed(`${host} is no address of this machine: choose another with --host or TOPUPD_HOST`);
    throw new CommandFailed(`cannot listen on ${host}, port ${port}: ${(error as Error).message}`);
  }
}

function urlOf(app: FastifyInstance): string {
  const { address, family, port } = app.server.address() as AddressInfo;
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}
