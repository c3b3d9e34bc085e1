import type { Target } from "../domain/target.ts";
import { type DeliveryPorts, deliverTo } from "./target-delivery.ts";
import { failureLog, type Worker } from "./worker.ts";

/** How often to check for changed targets and free leases. */
const LOOKED_EVERY_MS = 1_000;

interface Delivery {
  /** The target as it was at the start of the delivery. */
  readonly described: string;
  readonly stopping: AbortController;
  readonly ended: Promise<void>;
}

/**
 * Delivers events to the provider's targets. Runs in every process; the holder of a target's lease delivers to it. Feeds are
 * read by their systems, and paused targets wait.
 */
export function startDelivering(ports: DeliveryPorts): Worker {
  const { store, sleep } = ports;
  const logFailure = failureLog(ports);
  const stopping = new AbortController();
  /** Deliveries by target id. */
  const deliveries = new Map<number, Delivery>();

  const begin = (target: Target): void => {
    const { id, name } = target;
    const delivery = new AbortController();
    const ended = deliverTo(target, ports, delivery.signal)
      .catch((error: unknown) => logFailure(error, { target: name }, "the delivery to the target begins again"))
      .then(() => {
        deliveries.delete(id);
      });
    deliveries.set(id, { described: JSON.stringify(target), stopping: delivery, ended });
  };

  const look = async (): Promise<void> => {
    const targets = await store.outbox.targets();
    const wanted = new Map(targets.filter(isDelivered).map((target) => [target.id, target]));
    // A changed target (secret, URL) starts a new delivery after the open attempts end.
    for (const [id, { described, stopping }] of deliveries)
      if (JSON.stringify(wanted.get(id)) !== described) stopping.abort();
    for (const [id, target] of wanted) if (!deliveries.has(id)) begin(target);
  };

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await look().catch((error: unknown) => logFailure(error, {}, "the targets cannot be read"));
      await sleep(LOOKED_EVERY_MS, stopping.signal);
    }
    const last = [...deliveries.values()];
    for (const delivery of last) delivery.stopping.abort();
    await Promise.all(last.map(({ ended }) => ended));
  };

  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

function isDelivered({ config, paused, partner }: Target): boolean {
  return partner === undefined && config.kind !== "feed" && !paused;
}
