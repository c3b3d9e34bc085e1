import type { Environment } from "../domain/customer.ts";
import { listDays, readDay } from "../domain/day-range.ts";
import { type SettlementDetail, type SettlementLine, settleDay } from "../domain/settlement.ts";
import type { Ports } from "./ports.ts";

/** A leap year's: whoever wants more asks more than once. */
export const MAX_SETTLED_DAYS = 366;

export interface SettlementRequest {
  readonly environment: Environment;
  /** Undefined for all partners. */
  readonly partnerId: number | undefined;
  /** Days such as `2026-11-20` that readDay reads, both included. */
  readonly from: string;
  readonly to: string;
  readonly detail: SettlementDetail;
}

/**
 * What partners owe for each day of the provider's zone, the oldest first, and for each partner, service and bouquet;
 * days without anything have no lines. Every top-up is in one day, that on which it was recorded, and every reversal
 * in the one on which it was made.
 */
export async function* reportSettlement(
  { store }: Pick<Ports, "store">,
  { environment, partnerId, from, to, detail }: SettlementRequest,
): AsyncGenerator<readonly SettlementLine[]> {
  for (const text of listDays(from, to)) {
    const day = readDay(text, store.provider.calendar);
    if (day === undefined) continue;
    const period = { environment, partnerId, from: day.start, until: day.end };
    const topUps = await store.search.sumTopUps(period);
    yield settleDay(text, topUps, await store.search.sumReversals(period), detail);
  }
}
