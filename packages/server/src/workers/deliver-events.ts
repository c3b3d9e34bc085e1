import type { Target } from "../domain/target.ts";
import { type DeliveryPorts, deliverTo } from "./target-delivery.ts";
import { failureLog, type Worker } from "./worker.ts";

/** How often it is looked for targets that came, changed or went, and for leases that can be had. */
const LOOKED_EVERY_MS = 1_000;

interface Delivery {
  /** What it was begun with. */
  readonly described: string;
  readonly stopping: AbortController;
  readonly ended: Promise<void>;
}

/**
 * Delivers events to targets, in every process of a service: each target is delivered to by the process that holds its
 * lease. Feeds are read by whoever they are for, and paused targets wait.
 */
export function startDelivering(ports: DeliveryPorts): Worker {
  const { store, sleep } = ports;
  const logFailure = failureLog(ports);
  const stopping = new AbortController();
  /** By the target's id. */
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
    // With other secrets, or to another address, it begins anew once what is in hand has ended.
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

function isDelivered({ config, paused }: Target): boolean {
  return config.kind !== "feed" && !paused;
}
