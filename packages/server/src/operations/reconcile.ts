import { DAY_MS } from "../domain/calendar.ts";
import {
  type Answer,
  compareRows,
  Join,
  keyOf,
  type OurRow,
  type ReconciliationKey,
  type Tally,
  type TheirRow,
  type UnreadableRow,
  type Verdict,
} from "../domain/reconciliation.ts";
import type { Transaction } from "../domain/top-up.ts";
import { isTransactionId } from "../domain/transaction-id.ts";
import type { RecordedWithin } from "../store/search.ts";
import type { Store } from "../store/store.ts";
import { findReversals } from "./find-reversals.ts";
import { Partitions, partitionOf, type ScratchRecord } from "./partitions.ts";
import type { Ports } from "./ports.ts";
import { ourRecord, readOurs, readTheirs, theirRecord } from "./reconcile-records.ts";
import type { Scratch } from "./scratch.ts";
import { SortedAnswers } from "./sorted-answers.ts";

export interface ReconcilePorts extends Pick<Ports, "store"> {
  readonly openScratch: () => Promise<Scratch>;
}

export interface ReconcileRequest {
  readonly period: RecordedWithin & { readonly partnerId: number };
  readonly key: ReconciliationKey;
  /** Whether what matches is answered too, and not only counted. */
  readonly isAll: boolean;
}

export interface Reconciled {
  readonly verdicts: ReadonlyMap<Verdict, Tally>;
  /** What the verdicts add up to: all rows, and all top-ups of the period. */
  readonly total: Tally;
}

type Theirs = TheirRow | UnreadableRow;

/** A million rows on either side make partitions of some thousand. */
const PARTITIONS = 256;
const PAGE_ROWS = 5_000;
/**
 * What one book has on the 1st, the other may have on the 31st. By an id, each such top-up is asked for; by udf1, none
 * can be, so those around the period are read too: days of two zones are never further apart.
 */
const MARGIN_MS: Readonly<Record<ReconciliationKey, number>> = { checkoutId: 0, txnId: 0, udf1: 2 * DAY_MS };
/** Questions about single top-ups that are under way at a time. */
const LOOK_UPS = 16;

/**
 * Holds a partner's book against what is on record, in memory that does not grow with either.
 *
 * Both sides are spread over partitions on disk by a digest of the key, so that what belongs together is in the same
 * one, and each partition is then joined in memory. That takes one passage over the file and one over the period,
 * whatever the key is: udf1 has no index, and a million questions about a million keys would take longer.
 * @param rows in batches, in the order of their lines.
 * @param answer is called for the rows in the order of the file, and then for the top-ups that it lacks, oldest first.
 */
export async function reconcile(
  { store, openScratch }: ReconcilePorts,
  request: ReconcileRequest,
  rows: AsyncIterable<readonly Theirs[]>,
  answer: (answer: Answer) => void,
): Promise<Reconciled> {
  const scratch = await openScratch();
  try {
    const [theirs, ours] = [new Partitions(scratch, PARTITIONS), new Partitions(scratch, PARTITIONS)];
    const lastLine = await spreadTheirs(rows, theirs);
    const topUps = await spreadOurs(store, request, ours);
    const answers = new SortedAnswers(scratch, { lastLine, topUps, isAll: request.isAll });
    for (let partition = 0; partition < PARTITIONS; partition += 1) {
      const missing = await joinPartition(theirs.take(partition), ours.take(partition), answers);
      for (const found of await searchAll(store, request, missing)) answers.add(found);
      await answers.spill();
    }
    for await (const sorted of answers.inOrder()) sorted.forEach(answer);
    return answers;
  } finally {
    await scratch.close();
  }
}

/** @returns the number of the last line. */
async function spreadTheirs(rows: AsyncIterable<readonly Theirs[]>, partitions: Partitions): Promise<number> {
  let lastLine = 0;
  for await (const batch of rows) {
    for (const row of batch) {
      lastLine = row.line;
      partitions.add(partitionOf(row.key ?? "", PARTITIONS), theirRecord(row));
    }
    await partitions.spill();
  }
  return lastLine;
}

/** @returns how many there are, in the period and around it. */
async function spreadOurs(store: Store, { period, key }: ReconcileRequest, partitions: Partitions): Promise<number> {
  const { environment, partnerId } = period;
  const margin = MARGIN_MS[key];
  const filter = { environment, partnerId, from: period.from - margin, until: period.until + margin };
  let newer = 0;
  let before: string | undefined;
  for (;;) {
    const page = await store.search.listTransactions(filter, { before, limit: PAGE_ROWS });
    const later = await findReversedLater(store, period, page);
    for (const transaction of page) {
      const isReversedLater = later.has(transaction.checkoutId);
      const row = { ...toOurRow(transaction, keyOf(transaction, key), period, newer), isReversedLater };
      newer += 1;
      partitions.add(partitionOf(row.key ?? "", PARTITIONS), ourRecord(row));
    }
    await partitions.spill();
    if (page.length < PAGE_ROWS) return newer;
    before = page.at(-1)?.txnId;
  }
}

/** @returns the rows of the partner's that have no counterpart here. */
async function joinPartition(
  theirs: AsyncIterable<readonly ScratchRecord[]>,
  ours: AsyncIterable<readonly ScratchRecord[]>,
  answers: SortedAnswers,
): Promise<TheirRow[]> {
  const missing: TheirRow[] = [];
  const join = new Join((answer) => {
    const isAlone = answer.ours === undefined && (answer.verdict === "theirs_only" || answer.verdict === "matched");
    if (isAlone) missing.push(answer.theirs as TheirRow);
    else answers.add(answer);
  });
  for await (const records of theirs) {
    for (const record of records) join.addTheirs(readTheirs(record));
    await answers.spill();
  }
  for await (const records of ours) {
    for (const record of records) join.addOurs(readOurs(record));
    await answers.spill();
  }
  join.end();
  return missing;
}

/** A counterpart outside of the period is not among what was read, but can be asked for by its id. */
async function searchAll(store: Store, request: ReconcileRequest, rows: readonly TheirRow[]): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let first = 0; first < rows.length; first += LOOK_UPS) {
    const some = rows.slice(first, first + LOOK_UPS);
    answers.push(...(await Promise.all(some.map((row) => search(store, request, row)))));
  }
  return answers;
}

async function search(store: Store, { period, key }: ReconcileRequest, row: TheirRow): Promise<Answer> {
  const found = await findByKey(store, key, row.key);
  const isTheirs = found?.partnerId === period.partnerId && found.environment === period.environment;
  return compareRows(row, isTheirs ? toOurRow(found, row.key, period, 0) : undefined);
}

/** Which of them were taken back later than a period: that counts on the day on which it was done. */
async function findReversedLater(store: Store, { until }: RecordedWithin, transactions: readonly Transaction[]) {
  const reversals = await findReversals({ store }, transactions);
  return new Set([...reversals].filter(([, { at }]) => at >= until).map(([checkoutId]) => checkoutId));
}

async function findByKey(store: Store, key: ReconciliationKey, text: string): Promise<Transaction | undefined> {
  if (key === "txnId" && isTransactionId(text)) return store.search.findByTxnId(text);
  if (key === "checkoutId") return store.findTransaction(text);
  return undefined;
}

function toOurRow(transaction: Transaction, key: string | undefined, period: RecordedWithin, newer: number): OurRow {
  const { txnId, checkoutId, amount, status, at } = transaction;
  const isInPeriod = at >= period.from && at < period.until;
  return { key, txnId, checkoutId, amount, status, at, isInPeriod, newer, isReversedLater: false };
}
