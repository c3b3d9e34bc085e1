import type { Service } from "../../domain/bouquet.ts";
import type { SettlementSum } from "../../domain/settlement.ts";
import type { RecordedWithin } from "../search.ts";
import { txnIdRange } from "./transaction-search.ts";

/*
 * A settlement adds up what a list would show, along the same index and in the same steps: see transaction-search.ts.
 * A step of 5,000 rows, each of less than 10^15 minor units, stays below what 64 bits hold; the sum of all steps may
 * not, and is taken here.
 */

/** A sum as a store gives it: the amount is a text, since it may be more than a number holds exactly. */
export type SumRow = readonly [partnerId: number, service: Service, bouquetCode: string, count: number, amount: string];

/** The least txnId of a step that begins below `beyond`, undefined where it comes to the end; and what is in it. */
export interface SumStep {
  readonly boundary: string | undefined;
  readonly rows: readonly SumRow[];
}

export async function sumInSteps(
  within: RecordedWithin,
  step: (least: string, beyond: string) => Promise<SumStep>,
): Promise<SettlementSum[]> {
  const range = txnIdRange(within, { before: undefined, limit: 0 });
  const rows: SumRow[] = [];
  let beyond = range.beyond;
  for (;;) {
    const done = await step(range.least, beyond);
    rows.push(...done.rows);
    if (done.boundary === undefined) return addUp(rows);
    beyond = done.boundary;
  }
}

/** A sum for each partner, service and bouquet. */
export function addUp(rows: readonly SumRow[]): SettlementSum[] {
  const sums = new Map<string, SettlementSum>();
  for (const [partnerId, service, bouquetCode, count, amount] of rows) {
    const key = JSON.stringify([partnerId, service, bouquetCode]);
    const before = sums.get(key) ?? { partnerId, service, bouquetCode, count: 0, amount: 0n };
    sums.set(key, { ...before, count: before.count + count, amount: before.amount + BigInt(amount) });
  }
  return [...sums.values()];
}

/** What both stores ask of the rows of a table, and how they put them together. */
export const SUM_COLUMNS = "partner_id, service, bouquet_code";

/** The values of a {@link RecordedWithin}, in the order in which {@link sumCondition} takes them. */
export function withinValues({ environment, partnerId, from, until }: RecordedWithin): (string | number | null)[] {
  return [environment, partnerId ?? null, from, until];
}

/** How many values {@link withinValues} gives: further parameters come after them. */
export const WITHIN_VALUES = 4;

export function sumCondition(parameter: (index: number, type: string) => string): string {
  const partnerId = parameter(2, "integer");
  return `environment = ${parameter(1, "text")} AND (${partnerId} IS NULL OR partner_id = ${partnerId})
    AND at >= ${parameter(3, "bigint")} AND at < ${parameter(4, "bigint")}`;
}
