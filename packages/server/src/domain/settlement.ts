import { type AccountKey, addSums, NO_SALES, type SaleSums } from "./account.ts";
import type { Service } from "./bouquet.ts";
import type { Environment } from "./customer.ts";
import type { Money } from "./money.ts";
import { addSplits, NO_SPLIT, splitOf, type Tax, type TaxSplit } from "./tax.ts";
import { firstOfMonth, type Instant, lastOfMonth, readDay, type Zone } from "./wall-time.ts";

/** Sums of the top-ups and reversals of one account, bouquet, price, day of sale and day of the provider's clock. */
export interface DaySales extends AccountKey, SaleSums {
  readonly day: string;
  readonly service: Service;
  readonly bouquetCode: string;
  /** The price of each. */
  readonly amount: Money;
  /** The day on which it was sold: of top-ups the day itself, of reversals that of their top-ups. */
  readonly soldOn: string;
}

/**
 * Base and taxes of the top-ups of a row of sales, less those of its reversals: a reversal returns the taxes of the day on
 * which its top-up was sold.
 */
export function splitSales({ service, amount, soldOn, topUps, reversals }: DaySales, taxes: readonly Tax[]): TaxSplit {
  return addSplits(NO_SPLIT, splitOf({ service, day: soldOn, amount }, taxes), topUps - reversals);
}

export interface SettledSums extends SaleSums {
  readonly split: TaxSplit;
}

export const NOTHING_SETTLED: SettledSums = { ...NO_SALES, split: NO_SPLIT };

export function addSettled(a: SettledSums, b: SettledSums): SettledSums {
  return { ...addSums(a, b), split: addSplits(a.split, b.split) };
}

/**
 * Top-ups recorded on a day, and reversals made on it (whenever their top-ups were made). A past day never changes, not even
 * if its history is deleted (docs/decisions.md, "Settlement").
 */
export interface SettlementLine extends SettledSums {
  readonly day: string;
  readonly partnerId: number;
  /** Undefined if the line sums up all services of a day. */
  readonly service: Service | undefined;
  /** Undefined if the line sums up all bouquets of a service. */
  readonly bouquetCode: string | undefined;
}

/** Detail of the lines: one for each bouquet, service or day. */
export const SETTLEMENT_DETAILS = ["bouquet", "service", "day"] as const;
export type SettlementDetail = (typeof SETTLEMENT_DETAILS)[number];

/** Commission of the top-ups, less that of the reversed ones. */
export function keptOf({ commission, returned }: SaleSums): Money {
  return commission - returned;
}

/** Amount that the partner owes, or was charged; negative if more was reversed than topped up. */
export function netOf(sums: SaleSums): Money {
  return sums.gross - sums.reversed - keptOf(sums);
}

/** Days of a partner's settlement, both included. */
export interface SettledDays {
  readonly from: string;
  readonly to: string;
  readonly partnerId: number;
  readonly environment: Environment;
}

/**
 * The number of a settlement on paper, always the same for the same days: `2026-11-P7` for a whole month, or
 * `20261101-20261115-P7`. The trial environment's end with `-T`.
 */
export function settlementNumber({ from, to, partnerId, environment }: SettledDays): string {
  const isMonth = from === firstOfMonth(from) && to === lastOfMonth(from);
  const days = isMonth ? from.slice(0, 7) : `${from.replaceAll("-", "")}-${to.replaceAll("-", "")}`;
  return `${days}-P${partnerId}${environment === "trial" ? "-T" : ""}`;
}

/** The lines of a day, ordered by partner, service and bouquet. */
export function settleDay(sales: readonly (DaySales & SettledSums)[], detail: SettlementDetail): SettlementLine[] {
  const lines = new Map<string, SettlementLine>();
  for (const { day, partnerId, service, bouquetCode, ...sums } of sales) {
    const label = {
      day,
      partnerId,
      service: detail === "day" ? undefined : service,
      bouquetCode: detail === "bouquet" ? bouquetCode : undefined,
    };
    const key = JSON.stringify(label);
    lines.set(key, { ...label, ...addSettled(lines.get(key) ?? NOTHING_SETTLED, sums) });
  }
  return [...lines.values()].sort(compareLines);
}

function compareLines(a: SettlementLine, b: SettlementLine): number {
  if (a.partnerId !== b.partnerId) return a.partnerId - b.partnerId;
  // Compares by code units, so that every machine has the same order.
  const key = (line: SettlementLine) => `${line.service ?? ""} ${line.bouquetCode ?? ""}`;
  return key(a) < key(b) ? -1 : 1;
}

/** Margin for changes of the zone's rules since a top-up was dated. */
const RULES_CHANGE_BY_MS = 3 * 60 * 60_000;

/** Time range of a day's top-ups, `until` excluded; undefined if there is no such day. */
export function settledRange(day: string, zone: Zone): { readonly from: Instant; readonly until: Instant } | undefined {
  const found = readDay(day, zone);
  return found && { from: found.start - RULES_CHANGE_BY_MS, until: found.end + RULES_CHANGE_BY_MS };
}
