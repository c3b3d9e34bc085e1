import type { ConnectionKey } from "../../src/domain/customer.ts";
import type { ConnectionEvent, EventSubscription, Recorded } from "../../src/domain/event.ts";
import { createZone } from "../../src/domain/wall-time.ts";

export const KATHMANDU = createZone("Asia/Kathmandu");

export interface RadiusEvent extends Partial<Omit<ConnectionKey, "cuid">> {
  readonly kind?: ConnectionEvent["kind"];
  readonly at?: number;
  readonly blocked?: boolean;
  /** The end of its only base subscription; undefined means none. */
  readonly end: number | undefined;
  readonly plan?: string;
}

let seq = 0;

/** An event of a provider in Kathmandu. */
export function radiusEvent(event: RadiusEvent): Recorded<ConnectionEvent> {
  const { kind = "topup.recorded", at = Date.parse("2026-11-23T06:00:00Z"), blocked = false, end } = event;
  const { environment = "production", service = "internet", reqId = "fiber1", plan = "FBR60" } = event;
  const [start, name] = ["2026-01-01 00:00:00", `${plan} (MONTHLY)`];
  const subscriptions: EventSubscription[] =
    end === undefined
      ? []
      : [{ plan, bouquetId: `${plan}-1M`, name, addOn: false, start, end: KATHMANDU.wallTime(end), goodwillDays: 0 }];
  seq += 1;
  const key = { environment, cuid: "1", service, reqId } as const;
  return { seq, kind, at, key, state: { blocked, subscriptions }, topUp: undefined, partner: undefined };
}
