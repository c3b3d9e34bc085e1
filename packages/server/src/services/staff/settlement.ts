import type { Environment } from "../../domain/customer.ts";
import {
  type Answer,
  compareRows,
  Join,
  keyOf,
  NO_TALLY,
  type OurRow,
  type ReconciliationKey,
  type Tally,
  type TheirRow,
  tally,
  type UnreadableRow,
  type Verdict,
} from "../../domain/reconciliation.ts";
import { type SettlementDetail, type SettlementLine, settleDay } from "../../domain/settlement.ts";
import { RECORDING_DEADLINE_MS, type Transaction } from "../../domain/top-up.ts";
import { DAY_MS, dayAfter, type Instant, wallMsBetween } from "../../domain/wall-time.ts";
import { readDay } from "../../domain/zone.ts";
import type { Ports, ReadingPorts } from "../ports.ts";
import { readTransactions } from "./transactions.ts";

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

export interface ReconcileRequest {
  readonly environment: Environment;
  readonly partnerId: number;
  /** Top-ups of this time or later, and before `until`. */
  readonly from: Instant;
  readonly until: Instant;
  readonly key: ReconciliationKey;
}

export interface Reconciled {
  /** All but what matches: those of the file in its order, and then the top-ups that it lacks, oldest first. */
  readonly differences: readonly Answer[];
  readonly verdicts: ReadonlyMap<Verdict, Tally>;
  /** What the verdicts add up to: all rows, and all top-ups of the period. */
  readonly total: Tally;
}

const PAGE_ROWS = 5_000;
/**
 * What one book has on the 1st, the other may have on the 31st. By an id, each such top-up is asked for; by udf1, none
 * can be, so those around the period are read too: days of two zones are never further apart.
 */
const MARGIN_MS: Readonly<Record<ReconciliationKey, number>> = { checkoutId: 0, txnId: 0, udf1: 2 * DAY_MS };
/** Questions about single top-ups that are under way at a time. */
const LOOK_UPS = 16;

/**
 * Holds a partner's book against what is on record. Both are held in memory: some 500 bytes for a row and its top-up.
 * @param rows in the order of their lines.
 */
export async function reconcile(
  ports: ReadingPorts,
  request: ReconcileRequest,
  rows: AsyncIterable<TheirRow | UnreadableRow>,
): Promise<Reconciled> {
  const verdicts = new Map<Verdict, Tally>();
  let total = NO_TALLY;
  const differences: Answer[] = [];
  const take = (each: Answer) => {
    const { verdict } = each;
    verdicts.set(verdict, tally(verdicts.get(verdict) ?? NO_TALLY, each));
    total = tally(total, each);
    if (verdict !== "matched") differences.push(each);
  };
  const alone: TheirRow[] = [];
  const join = new Join();
  for await (const row of rows) join.addTheirs(row);
  for await (const row of readOurs(ports, request)) join.addOurs(row);
  for (const each of join.answers()) {
    const isAlone = each.ours === undefined && (each.verdict === "theirs_only" || each.verdict === "matched");
    if (isAlone) alone.push(each.theirs as TheirRow);
    else take(each);
  }
  // A counterpart outside of the period is not among what was read, but can be asked for by its id.
  for (let first = 0; first < alone.length; first += LOOK_UPS) {
    const some = alone.slice(first, first + LOOK_UPS);
    for (const found of await Promise.all(some.map((row) => search(ports, request, row)))) take(found);
  }
  return { differences: differences.sort(compareAnswers), verdicts, total };
}

function compareAnswers(a: Answer, b: Answer): number {
  const [line, otherLine] = [a.theirs?.line ?? Number.MAX_SAFE_INTEGER, b.theirs?.line ?? Number.MAX_SAFE_INTEGER];
  return line - otherLine || (b.ours?.newer ?? 0) - (a.ours?.newer ?? 0);
}

/** Those of the period, and around it; newest first. */
async function* readOurs(ports: ReadingPorts, request: ReconcileRequest): AsyncGenerator<OurRow> {
  const { environment, partnerId, from, until, key } = request;
  const filter = { environment, partnerId, from: from - MARGIN_MS[key], until: until + MARGIN_MS[key] };
  let newer = 0;
  for await (const page of readTransactions(ports, filter, PAGE_ROWS))
    for (const { transaction, reversal } of page) {
      const row = ourRow(transaction, keyOf(transaction, key), request, newer);
      yield { ...row, isReversedLater: reversal !== undefined && reversal.at >= until };
      newer += 1;
    }
}

async function search(ports: ReadingPorts, request: ReconcileRequest, row: TheirRow): Promise<Answer> {
  const { partnerId, environment } = request;
  const found = await findByKey(ports, request, row.key);
  const isTheirs = found?.partnerId === partnerId && found.environment === environment;
  return compareRows(row, isTheirs ? ourRow(found, row.key, request, 0) : undefined);
}

async function findByKey({ store }: ReadingPorts, { key }: ReconcileRequest, id: string) {
  if (key === "txnId") return (await store.search.findByTxnIds([id])).get(id);
  return key === "checkoutId" ? store.findTransaction(id) : undefined;
}

function ourRow(
  transaction: Transaction,
  key: string | undefined,
  { from, until }: ReconcileRequest,
  newer: number,
): OurRow {
  const { txnId, checkoutId, amount, status, at } = transaction;
  const isInPeriod = at >= from && at < until;
  return { key, txnId, checkoutId, amount, status, at, isInPeriod, newer, isReversedLater: false };
}
