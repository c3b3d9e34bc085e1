import type { Config } from "../../config.ts";
import type { Family } from "../../metrics/exposition.ts";
import { type ServiceState, wellState } from "../../system/service-state.ts";
import type { ChildParts, Collected, Served, SupervisorProcess } from "./processes.ts";
import type { Runtime, ServiceLog } from "./runtime.ts";

type Serve = (runtime: Runtime, config: Config, log: ServiceLog, parts: ChildParts) => Promise<Served>;

/** Serves as a worker or as the console, until the supervisor stops this process. */
export async function serveAsChild(
  runtime: Runtime,
  config: Config,
  log: ServiceLog,
  supervisor: SupervisorProcess,
): Promise<void> {
  const isConsole = supervisor.role === "console";
  // Partners have priority over staff.
  if (isConsole) runtime.lowerPriority();
  const isCounting = config.metricsPort !== undefined || (config.consolePort !== undefined && !isConsole);
  const metrics = isCounting ? await runtime.createMetrics(config) : undefined;
  const observeBatch = isConsole ? undefined : metrics?.observeBatch;
  const state = wellState();
  try {
    // The console loads slowly, and workers do not need it.
    const serve: Serve = isConsole
      ? (await import("./console.ts")).serveConsole
      : (await import("./worker.ts")).serveWorker;
    const store = await runtime.openStore(config, { mustExist: true, observeBatch });
    try {
      const served = await serve(runtime, config, log, { store, state, metrics, supervisor });
      const measured = isConsole ? undefined : store;
      const collect = async (what: Collected) =>
        (what === "all" ? await metrics?.collect(measured) : metrics?.collectCalls(measured)) ?? [];
      const stopped = answerSupervisor(supervisor, state, collect);
      supervisor.send({ kind: "ready", url: served.url, counterUrl: served.counterUrl });
      await served.stop({ drainSeconds: await stopped });
    } finally {
      await store.close();
    }
  } catch (error) {
    // The supervisor reports the failure once for all workers.
    supervisor.send({ kind: "failed", message: (error as Error).message });
  } finally {
    supervisor.leave();
  }
}

/**
 * Answers the supervisor's messages and copies each state that it sends into `state`.
 * @param collect reads the metrics of this process.
 * @returns the time to drain, in seconds, when the supervisor stops this process.
 */
export function answerSupervisor(
  { send, onMessage }: Pick<SupervisorProcess, "send" | "onMessage">,
  state: ServiceState,
  collect: (what: Collected) => Promise<readonly Family[]>,
): Promise<number> {
  return new Promise((stop) => {
    onMessage((message) => {
      if (message.kind === "stop") stop(message.drainSeconds);
      if (message.kind === "ping") send({ kind: "pong" });
      // The channel is JSON, which omits undefined fields.
      if (message.kind === "state") Object.assign(state, wellState(), { figures: state.figures }, message.state);
      if (message.kind === "figures") state.figures = message.figures;
      if (message.kind === "collect")
        void collect(message.what).then((families) => send({ kind: "collected", id: message.id, families }));
    });
  });
}
