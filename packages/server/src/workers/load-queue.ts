import { portionsOf } from "../domain/portions.ts";
import type { Target } from "../domain/target.ts";
import type { Outbox } from "../store/outbox.ts";
import { DeliveryQueue } from "./delivery-queue.ts";

/** Events read in one query. */
const PAGE = 500;

interface QueuePorts {
  readonly outbox: Pick<Outbox, "place" | "waiting" | "eventsOf">;
  readonly random: (bytes: number) => Uint8Array;
}

/** The queue of a target as the last holder of its lease has saved it. */
export async function loadQueue(target: Target, { outbox, random }: QueuePorts): Promise<DeliveryQueue> {
  const { id, billing } = target;
  const place = await outbox.place(id);
  const rows = await outbox.waiting(id);
  const waiting = [];
  for (const portion of portionsOf(rows, PAGE)) {
    const page = new Map(portion.map((row) => [row.seq, row]));
    for (const event of await outbox.eventsOf([...page.keys()])) {
      const row = page.get(event.seq);
      if (row !== undefined) waiting.push({ row, event });
    }
  }
  return new DeliveryQueue(billing, { place, waiting }, () => (random(1)[0] ?? 0) / 256);
}
