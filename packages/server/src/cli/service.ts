import type { AddressInfo, Socket } from "node:net";
import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import type { Config } from "../config.ts";
import { buildApp } from "../http/app.ts";
import type { Store } from "../store/store.ts";
import { CommandFailed, type Runtime } from "./runtime.ts";

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
  logger: FastifyBaseLogger,
): Promise<RunningService> {
  const { clock, random } = runtime;
  let draining = false;
  const sockets = new Set<Socket>();
  const app = await buildApp({
    ports: { store, clock, random, checkoutSecrets: await store.checkoutSecrets() },
    prefix: config.prefix,
    lapsedDays: config.lapsedDays,
    v1_0_0: { deprecatedAt: config.v100DeprecatedOn, sunsetAt: config.v100SunsetOn },
    logger,
    isDraining: () => draining,
  });
  app.server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
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
      draining = true;
      await runtime.sleep(drainSeconds * 1000);
      const closed = app.close();
      const inTime = await Promise.race([
        closed.then(() => true),
        runtime.sleep(config.shutdownSeconds * 1000).then(() => false),
      ]);
      if (!inTime) {
        logger.warn("requests that were still in hand at the deadline are cut off");
        for (const socket of sockets) socket.destroy();
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
    throw error;
  }
}

function urlOf(app: FastifyInstance): string {
  const { address, family, port } = app.server.address() as AddressInfo;
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}
