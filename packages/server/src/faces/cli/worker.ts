import type { Config } from "../../config.ts";
import type { Family } from "../../metrics/metrics.ts";
import type { Observer } from "../../partner/observer.ts";
import type { Store } from "../../store/store.ts";
import { type ServiceState, wellState } from "../../system/service-state.ts";
import type { FromChild, ToChild } from "./member.ts";
import type { Runtime, ServiceLog } from "./runtime.ts";
import { serveFrom } from "./service.ts";

/** The supervisor, as its processes know it. */
export interface SupervisorProcess {
  /** What this process is for. */
  readonly role: "worker" | "console";
  readonly send: (message: FromChild) => void;
  readonly onMessage: (hear: (message: ToChild) => void) => void;
  /** Nothing is heard of it any more, and nothing keeps this process from its end. */
  readonly leave: () => void;
}

/**
 * Answers the supervisor's messages from now on, and keeps `state` as the supervisor last sent it.
 * @param collect reads the metrics of this process.
 * @returns how long to drain, in seconds, once the supervisor stops this process.
 */
export function hearSupervisor(
  { send, onMessage }: Pick<SupervisorProcess, "send" | "onMessage">,
  state: ServiceState,
  collect: () => Promise<readonly Family[]>,
): Promise<number> {
  return new Promise((stop) => {
    onMessage((message) => {
      if (message.kind === "stop") stop(message.drainSeconds);
      if (message.kind === "ping") send({ kind: "pong" });
      // The channel is JSON, which leaves out fields that are undefined.
      if (message.kind === "state") Object.assign(state, wellState(), message.state);
      if (message.kind === "collect")
        void collect().then((families) => send({ kind: "collected", id: message.id, families }));
    });
  });
}

/** Serves as one of several processes, until the supervisor has it stop. */
export async function serveAsWorker(
  runtime: Runtime,
  config: Config,
  log: ServiceLog,
  supervisor: SupervisorProcess,
): Promise<void> {
  const metrics = config.metricsPort === undefined ? undefined : await runtime.createMetrics(config);
  const state = wellState();
  const observer: Observer = {
    requestAnswered: (...what) => metrics?.observer.requestAnswered(...what),
    topUpRecorded: (topUp) => metrics?.observer.topUpRecorded(topUp),
    recordingChanged: (failsSince) => supervisor.send({ kind: "recording", failsSince }),
  };
  let opened: Store | undefined;
  try {
    const store = await runtime.openStore(config, { mustExist: true, observeBatch: metrics?.observeBatch });
    opened = store;
    const deliveryObserver = metrics?.deliveryObserver;
    const service = await serveFrom(runtime, config, log, { store, observer, deliveryObserver, state });
    const stopped = hearSupervisor(supervisor, state, async () => (await metrics?.collect(store)) ?? []);
    supervisor.send({ kind: "ready", url: service.url });
    await service.stop({ drainSeconds: await stopped });
  } catch (error) {
    await opened?.close();
    // The supervisor tells it, once for all workers.
    supervisor.send({ kind: "failed", message: (error as Error).message });
  } finally {
    supervisor.leave();
  }
}
