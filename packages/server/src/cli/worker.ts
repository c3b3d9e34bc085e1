import type { Config } from "../config.ts";
import type { Observer } from "../services/partner/observer.ts";
import { wellState } from "../services/service-state.ts";
import type { Store } from "../store/store.ts";
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
    recordingChanged: (failsSince) => {
      metrics?.observer.recordingChanged(failsSince);
      supervisor.send({ kind: "recording", failsSince });
    },
  };
  let store: Store | undefined;
  try {
    store = await runtime.openStore(config, { mustExist: true, observeBatch: metrics?.observeBatch });
    const deliveryObserver = metrics?.deliveryObserver;
    const parts = { store, observer, deliveryObserver, state };
    const service = await serveFrom(runtime, config, log, parts);
    const stopped = new Promise<number>((stop) => {
      supervisor.onMessage((message) => {
        if (message.kind === "stop") stop(message.drainSeconds);
        if (message.kind === "ping") supervisor.send({ kind: "pong" });
        if (message.kind === "state") {
          Object.assign(state, message.state);
          metrics?.observer.recordingChanged(state.recordingFailsSince);
        }
        if (message.kind === "collect") void tell(message.id);
      });
    });
    const tell = async (id: number) => {
      const families = (await metrics?.collect(parts.store)) ?? [];
      supervisor.send({ kind: "collected", id, families });
    };
    supervisor.send({ kind: "ready", url: service.url });
    await service.stop({ drainSeconds: await stopped });
  } catch (error) {
    await store?.close();
    // The supervisor tells it, once for all workers.
    supervisor.send({ kind: "failed", message: (error as Error).message });
  } finally {
    supervisor.leave();
  }
}
