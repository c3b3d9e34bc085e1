import type { FastifyInstance } from "fastify";
import type { Config } from "../../config.ts";
import type { Store } from "../../store/store.ts";
import { urlOf } from "../../system/port-guard.ts";
import { type ServiceState, wellState } from "../../system/service-state.ts";
import { type AdminWorld, buildAdminApp } from "../staff-api/app.ts";
import type { Runtime, ServiceLog } from "./runtime.ts";
import { listening } from "./service.ts";
import { hearSupervisor, type SupervisorProcess } from "./worker.ts";

export interface ConsoleParts {
  readonly store: Store;
  readonly state: ServiceState;
  readonly countFailedLogIn: AdminWorld["countFailedLogIn"];
}

/** The console and the staff API, being served. */
export interface ServedConsole {
  readonly url: string;
  /** Finishes what is in hand, within the deadline. The store stays open. */
  readonly stop: () => Promise<void>;
}

/** Serves the console from a store that is open. @throws CommandFailed where the port or address cannot be had. */
export async function serveConsole(
  runtime: Runtime,
  config: Config,
  { logger, logLine }: ServiceLog,
  { store, state, countFailedLogIn }: ConsoleParts,
): Promise<ServedConsole> {
  const { version, clock, random, sleep, accounts, targets, consoleFolder, createTemporaryFile } = runtime;
  const { consoleHost: host, consolePort: port = 0 } = config;
  const app = await buildAdminApp({
    world: {
      ...{ store, clock, random, sleep, accounts, targets, version, state, countFailedLogIn },
      ...{ storeKind: config.database.store, currency: config.currency },
      readMigrations: () => runtime.readMigrations(config),
      log: (level, fields, message) => logger[level](fields, message),
    },
    ...{
      trustedProxies: config.trustedProxies,
      consoleNames: config.consoleNames,
      consoleFolder,
      createTemporaryFile,
      logger,
      logLine,
    },
  });
  // By itself: what processes of a cluster listen on is shared, and two that take any free port would get the same.
  await listening(app.listen({ host, port, exclusive: true }), config, "consoleHost", "consolePort");
  app.server.on("error", (error) => logger.error({ err: error }, "a connection could not be taken"));
  return { url: urlOf(app.server), stop: () => close(app, runtime, config) };
}

async function close(app: FastifyInstance, { sleep }: Runtime, { shutdownSeconds }: Config): Promise<void> {
  const closed = app.close();
  const inTime = new AbortController();
  const late = sleep(shutdownSeconds * 1000, inTime.signal).then(() => app.server.closeAllConnections());
  await closed;
  inTime.abort();
  await late;
}

/** Serves the console in a process of its own, until the supervisor has it stop. */
export async function serveAsConsole(
  runtime: Runtime,
  config: Config,
  log: ServiceLog,
  supervisor: SupervisorProcess,
): Promise<void> {
  // Partners come first.
  runtime.lowerPriority();
  const metrics = config.metricsPort === undefined ? undefined : await runtime.createMetrics(config);
  const state = wellState();
  let store: Store | undefined;
  try {
    store = await runtime.openStore(config, { mustExist: true });
    const countFailedLogIn = metrics?.countFailedLogIn;
    const served = await serveConsole(runtime, config, log, { store, state, countFailedLogIn });
    const stopped = hearSupervisor(supervisor, state, async () => (await metrics?.collect(undefined)) ?? []);
    supervisor.send({ kind: "ready", url: served.url });
    await stopped;
    await served.stop();
  } catch (error) {
    // The supervisor tells it.
    supervisor.send({ kind: "failed", message: (error as Error).message });
  } finally {
    await store?.close();
    supervisor.leave();
  }
}
