import { Refused } from "../../domain/refused.ts";
import { isTransactionId } from "../../domain/transaction.ts";
import { dayAt, type Instant } from "../../domain/wall-time.ts";
import type { ReadingPorts } from "../../store/ports.ts";
import { type Days, sumSales } from "../../store/sales.ts";
import { readHorizon } from "../../store/settings.ts";
import { cursorOf, textsOfCursor } from "../common.ts";
import { addTransactions, NO_TOP_UPS, plusSum, SUMMED, type TransactionFilter, type TransactionSum } from "./lists.ts";

/** Top-ups that one request adds up. */
const MOST_ADDED = 100_000;

export interface SumSoFar {
  readonly sum: TransactionSum;
  /** The txnId before which the sum continues; undefined if it is complete. */
  readonly rest: string | undefined;
}

/**
 * Adds up top-ups, newest first. If only account, service, bouquet and days are asked, count and amount are stored sums, and
 * only reversed top-ups are read.
 * @param soFar undefined for the first request.
 */
export async function sumUp(
  { store }: ReadingPorts,
  filter: TransactionFilter,
  days: Days,
  soFar: SumSoFar | undefined,
): Promise<SumSoFar> {
  const { engine, provider } = store;
  if (!hasStoredSums(filter)) {
    const { sum, rest } = await addTransactions(engine, filter, soFar?.rest, MOST_ADDED);
    return { sum: plusSum(soFar?.sum ?? NO_TOP_UPS, sum), rest };
  }
  const { from, until } = filter;
  const horizon = await readHorizon(engine.db);
  const isWhole = horizon === undefined && from === undefined && until === undefined;
  // Stored sums contain what was deleted: up to the end of the horizon's day, the top-ups that are left are added up.
  const end = horizon === undefined ? undefined : dayAt(horizon, provider.zone).end;
  const sum = soFar?.sum ?? (await readStoredSum(store, filter, days, end, isWhole));
  if (isWhole) return { sum, rest: undefined };
  const ofReversed: TransactionFilter = { ...filter, status: "reversed", from: Math.max(from ?? 0, end ?? 0) };
  const reversed = await addTransactions(engine, ofReversed, soFar?.rest, MOST_ADDED);
  const withReversed = plusSum(sum, { ...reversed.sum, count: 0n, amount: 0n });
  if (reversed.rest !== undefined || end === undefined) return { sum: withReversed, rest: reversed.rest };
  const old = { ...filter, until: Math.min(until ?? end, end) };
  const left = await addTransactions(engine, old, soFar?.rest, MOST_ADDED);
  return { sum: plusSum(withReversed, left.sum), rest: left.rest };
}

/** Conditions for which sums are stored. */
const STORED_BY: readonly string[] = ["environment", "partnerId", "service", "bouquetCode", "from", "until"];

function hasStoredSums(filter: TransactionFilter): boolean {
  return Object.entries(filter).every(([name, value]) => value === undefined || STORED_BY.includes(name));
}

/**
 * @param end of the horizon's day: sums of earlier days are not used.
 * @param isWhole whether the stored sums of reversals are those that are asked.
 */
async function readStoredSum(
  { engine, provider }: ReadingPorts["store"],
  { environment, partnerId, service, bouquetCode }: TransactionFilter,
  days: Days,
  end: Instant | undefined,
  isWhole: boolean,
): Promise<TransactionSum> {
  const firstDay = end === undefined ? "" : provider.zone.wallTime(end).slice(0, 10);
  const from = days.from !== undefined && days.from > firstDay ? days.from : firstDay;
  const stored = await sumSales(engine.db, { environment, partnerId, service, bouquetCode, from, to: days.to });
  const sum = { ...NO_TOP_UPS, count: BigInt(stored.topUps), amount: stored.gross };
  return isWhole ? { ...sum, reversed: BigInt(stored.reversals), reversedAmount: stored.reversed } : sum;
}

export function writeCursor({ sum, rest }: SumSoFar): string | null {
  return rest === undefined ? null : cursorOf([rest, ...SUMMED.map((name) => String(sum[name]))]);
}

/** @throws Refused */
export function readCursor(cursor: string | undefined): SumSoFar | undefined {
  const texts = textsOfCursor(cursor, 1 + SUMMED.length);
  if (texts === undefined) return undefined;
  const [rest = "", ...sums] = texts;
  if (!isTransactionId(rest) || !sums.every((each) => /^[0-9]{1,30}$/.test(each)))
    throw Refused.field("cursor", "must be the cursor of a page");
  return { rest, sum: Object.fromEntries(SUMMED.map((name, at) => [name, BigInt(sums[at] ?? 0)])) as TransactionSum };
}
