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
import type { Transaction } from "../../domain/top-up.ts";
import { DAY_MS, type Instant } from "../../domain/wall-time.ts";
import type { ReadingPorts } from "../ports.ts";

export interface ReconcileRequest {
  readonly environment: Environment;
  readonly partnerId: number;
  /** Top-ups of this time or later, and before `until`. */
  readonly from: Instant;
  readonly until: Instant;
  readonly key: ReconciliationKey;
  /** Whether what matches is answered too, and not only counted. */
  readonly isAll: boolean;
}

export interface Reconciled {
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
 * @param rows in batches, in the order of their lines.
 * @param answer is called for the rows in the order of the file, and then for the top-ups that it lacks, oldest first.
 */
export async function reconcile(
  ports: ReadingPorts,
  request: ReconcileRequest,
  rows: AsyncIterable<readonly (TheirRow | UnreadableRow)[]>,
  answer: (answer: Answer) => void,
): Promise<Reconciled> {
  const verdicts = new Map<Verdict, Tally>();
  let total = NO_TALLY;
  const answers: Answer[] = [];
  const take = (each: Answer) => {
    const { verdict } = each;
    verdicts.set(verdict, tally(verdicts.get(verdict) ?? NO_TALLY, each));
    total = tally(total, each);
    if (verdict !== "matched" || request.isAll) answers.push(each);
  };
  const alone: TheirRow[] = [];
  const join = new Join((each) => {
    const isAlone = each.ours === undefined && (each.verdict === "theirs_only" || each.verdict === "matched");
    if (isAlone) alone.push(each.theirs as TheirRow);
    else take(each);
  });
  for await (const batch of rows) for (const row of batch) join.addTheirs(row);
  for await (const page of readOurs(ports, request)) for (const row of page) join.addOurs(row);
  join.end();
  // A counterpart outside of the period is not among what was read, but can be asked for by its id.
  for (let first = 0; first < alone.length; first += LOOK_UPS) {
    const some = alone.slice(first, first + LOOK_UPS);
    for (const found of await Promise.all(some.map((row) => search(ports, request, row)))) take(found);
  }
  for (const each of answers.sort(compareAnswers)) answer(each);
  return { verdicts, total };
}

function compareAnswers(a: Answer, b: Answer): number {
  const [line, otherLine] = [a.theirs?.line ?? Number.MAX_SAFE_INTEGER, b.theirs?.line ?? Number.MAX_SAFE_INTEGER];
  return line - otherLine || (b.ours?.newer ?? 0) - (a.ours?.newer ?? 0);
}

/** Those of the period, and around it; newest first. */
async function* readOurs({ store }: ReadingPorts, request: ReconcileRequest): AsyncGenerator<readonly OurRow[]> {
  const { environment, partnerId, from, until, key } = request;
  const filter = { environment, partnerId, from: from - MARGIN_MS[key], until: until + MARGIN_MS[key] };
  let newer = 0;
  let before: string | undefined;
  do {
    const page = await store.search.listTransactions(filter, { before, limit: PAGE_ROWS });
    const reversed = page.filter(({ status }) => status === "reversed").map(({ txnId }) => txnId);
    const reversals = await store.search.findReversals(reversed);
    yield page.map((transaction, index) => {
      const row = ourRow(transaction, keyOf(transaction, key), request, newer + index);
      return { ...row, isReversedLater: (reversals.get(row.txnId)?.at ?? 0) >= until };
    });
    newer += page.length;
    before = page.length < PAGE_ROWS ? undefined : page.at(-1)?.txnId;
  } while (before !== undefined);
}

async function search({ store }: ReadingPorts, request: ReconcileRequest, row: TheirRow): Promise<Answer> {
  const { key, partnerId, environment } = request;
  const find = async (): Promise<Transaction | undefined> => {
    if (key === "txnId") return (await store.search.findByTxnIds([row.key])).get(row.key);
    return key === "checkoutId" ? store.findTransaction(row.key) : undefined;
  };
  const found = await find();
  const isTheirs = found?.partnerId === partnerId && found.environment === environment;
  return compareRows(row, isTheirs ? ourRow(found, row.key, request, 0) : undefined);
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
