import type { Service } from "../../domain/bouquet.ts";
import type { Environment } from "../../domain/customer.ts";
import { type CurrencyExponent, formatMoneyInFull, type Money } from "../../domain/money.ts";
import {
  netOf,
  type SettlementDetail,
  type SettlementLine,
  type SettlementTotal,
  settleDay,
} from "../../domain/settlement.ts";
import { RECORDING_DEADLINE_MS } from "../../domain/top-up.ts";
import { DAY_MS, dayAfter, wallMsBetween } from "../../domain/wall-time.ts";
import { readDay } from "../../domain/zone.ts";
import type { Ports, ReadingPorts } from "../ports.ts";

/** A leap year's: whoever wants more asks more than once. */
export const MAX_SETTLED_DAYS = 366;

export interface SettlementRequest {
  readonly environment: Environment;
  /** Undefined for all partners. */
  readonly partnerId: number | undefined;
  /** Days such as `2026-11-20`, both included. */
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
  { store }: ReadingPorts,
  { environment, partnerId, from, to, detail }: SettlementRequest,
): AsyncGenerator<readonly SettlementLine[]> {
  // A top-up that was decided on one of these days may still wait for its commit.
  await store.search.awaitCommits();
  for (let day = from; day <= to; day = dayAfter(day)) {
    const settled = { environment, partnerId, day };
    const topUps = await store.search.sumTopUps(settled);
    yield settleDay(day, topUps, await store.search.sumReversals(settled), detail);
  }
}

/** How many days there are from the first to the last, both included. */
export function countDays(from: string, to: string): number {
  return Math.max(0, wallMsBetween(`${from} 00:00:00`, `${to} 00:00:00`) / DAY_MS + 1);
}

/** Whether a day may still grow: what was decided in its last moment may take so long to be on record. */
export function isDayOpen(
  { store, clock }: Pick<Ports, "store" | "clock">,
  { day }: { readonly day: string },
): boolean {
  const end = readDay(day, store.provider.zone)?.end;
  return end !== undefined && clock() < end + RECORDING_DEADLINE_MS;
}

/** Amounts are decimals in strings, so that nobody rounds them. */
export interface SettlementAmounts {
  readonly topUps: number;
  readonly gross: string;
  readonly reversals: number;
  readonly reversed: string;
  readonly net: string;
}

export function settlementAmounts(total: SettlementTotal, currencyExponent: CurrencyExponent): SettlementAmounts {
  const { topUps, gross, reversals, reversed } = total;
  const inFull = (amount: Money) => formatMoneyInFull(amount, currencyExponent);
  return { topUps, gross: inFull(gross), reversals, reversed: inFull(reversed), net: inFull(netOf(total)) };
}

/** A line as it is shown; null where it is coarser. */
export interface SettlementRow extends SettlementAmounts {
  readonly day: string;
  readonly partner: string;
  readonly service: Service | null;
  readonly bouquetId: string | null;
}

/** Shows lines. @param names of partners, by their numbers. */
export function settlementRows(
  lines: readonly SettlementLine[],
  names: ReadonlyMap<number, string>,
  currencyExponent: CurrencyExponent,
): SettlementRow[] {
  return lines.map((line) => {
    const { day, partnerId, service = null, bouquetCode: bouquetId = null } = line;
    const partner = names.get(partnerId) ?? String(partnerId);
    return { day, partner, service, bouquetId, ...settlementAmounts(line, currencyExponent) };
  });
}
