import type { Environment } from "../../domain/customer.ts";
import { formatMoneyInFull, type Money } from "../../domain/money.ts";
import { portionsOf } from "../../domain/portions.ts";
import {
  type Answer,
  compareRows,
  isUnreadable,
  Join,
  keyOf,
  NO_TALLY,
  type OurRow,
  type ReconciliationKey,
  type Tally,
  type TheirRow,
  tally,
  type UnreadableRow,
  VERDICTS,
  type Verdict,
} from "../../domain/reconciliation.ts";
import { isTransactionId, type Transaction } from "../../domain/transaction.ts";
import { DAY_MS, type Instant, isoTime } from "../../domain/wall-time.ts";
import type { Db } from "../../store/engine.ts";
import type { ReadingPorts } from "../../store/ports.ts";
import type { ProviderSettings } from "../../store/store.ts";
import { readNames } from "../customer-search.ts";
import { readWithReversals } from "../transactions/lists.ts";
import { findByTxnIds, findTransaction } from "../transactions/sql.ts";

export interface ReconcileRequest {
  readonly environment: Environment;
  readonly partnerId: number;
  /** Start of the period, included; `until` is excluded. */
  readonly from: Instant;
  readonly until: Instant;
  readonly key: ReconciliationKey;
}

export interface Reconciled {
  /** Differences: first those of the file's rows, in their order, then the top-ups that the file lacks, oldest first. */
  readonly differences: readonly Answer[];
  readonly verdicts: ReadonlyMap<Verdict, Tally>;
  /** Sum of the verdicts: all rows, and all top-ups of the period. */
  readonly total: Tally;
}

const PAGE_ROWS = 5_000;
/**
 * Time read before and after the period. A top-up near midnight can be on another day in the partner's book. A row with an
 * id is looked up by it; a row with a udf1 cannot be. The days of two zones are never further apart.
 */
const MARGIN_MS: Readonly<Record<ReconciliationKey, number>> = { checkoutId: 0, txnId: 0, udf1: 2 * DAY_MS };
/** Look-ups of single top-ups that run at the same time. */
const LOOK_UPS = 16;
const ANSWERS_IN_A_TURN = 1_000;
/** TxnIds that one statement may list. */
const TXN_IDS_AT_ONCE = 500;

/**
 * Compares a partner's file with the top-ups on record. Both are in memory: about 500 bytes for a row and its top-up.
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
  const alone: Answer[] = [];
  const join = new Join();
  for await (const row of rows) join.addTheirs(row);
  for await (const row of readOurs(ports, request)) join.addOurs(row);
  let answered = 0;
  for (const each of join.answers()) {
    answered += 1;
    if (answered % ANSWERS_IN_A_TURN === 0) await turnEnd();
    const { verdict, ours, isAside = false } = each;
    if (ours === undefined && !isAside && (verdict === "theirs_only" || verdict === "matched")) alone.push(each);
    else take(each);
  }
  // A top-up outside of the period was not read, but can be looked up by its id.
  for (let first = 0; first < alone.length; first += LOOK_UPS) {
    const some = alone.slice(first, first + LOOK_UPS);
    for (const found of await Promise.all(some.map((each) => search(ports, request, each)))) take(found);
    await turnEnd();
  }
  return { differences: differences.sort(compareAnswers), verdicts, total };
}

/** Gives other requests a turn: SQLite answers synchronously. */
function turnEnd(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function compareAnswers(a: Answer, b: Answer): number {
  const [line, otherLine] = [a.theirs?.line ?? Number.MAX_SAFE_INTEGER, b.theirs?.line ?? Number.MAX_SAFE_INTEGER];
  return line - otherLine || (b.ours?.newer ?? 0) - (a.ours?.newer ?? 0);
}

/** Reads the top-ups of the period and around it, newest first. */
async function* readOurs({ store: { engine } }: ReadingPorts, request: ReconcileRequest): AsyncGenerator<OurRow> {
  const { environment, partnerId, from, until, key } = request;
  const filter = { environment, partnerId, from: from - MARGIN_MS[key], until: until + MARGIN_MS[key] };
  let newer = 0;
  for await (const page of readWithReversals(engine, filter, PAGE_ROWS))
    for (const { transaction, reversal } of page) {
      const row = ourRow(transaction, keyOf(transaction, key), request, newer);
      yield { ...row, isReversedLater: reversal !== undefined && reversal.at >= until };
      newer += 1;
    }
}

async function search(ports: ReadingPorts, request: ReconcileRequest, alone: Answer): Promise<Answer> {
  const { partnerId, environment } = request;
  const row = alone.theirs as TheirRow;
  const found = await findByKey(ports, request, row.key);
  const isTheirs = found?.partnerId === partnerId && found.environment === environment;
  return isTheirs ? compareRows(row, ourRow(found, row.key, request, 0)) : alone;
}

async function findByKey({ store }: ReadingPorts, { key }: ReconcileRequest, id: string) {
  if (key === "txnId") return isTransactionId(id) ? findTransaction(store.engine.db, id) : undefined;
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

/** Reads the customers of top-ups, by txnId. */
export async function readCustomers(db: Db, environment: Environment, answers: readonly Answer[]) {
  const found: Transaction[] = [];
  for (const some of portionsOf(
    answers.flatMap(({ ours }) => ours?.txnId ?? []),
    TXN_IDS_AT_ONCE,
  ))
    found.push(...(await findByTxnIds(db, some)).values());
  const cuids = found.map(({ cuid }) => cuid);
  const names = await readNames(db, environment, cuids);
  return new Map(found.map(({ txnId, cuid }) => [txnId, { cuid, customer: names.get(cuid) ?? null }]));
}

export function differenceData(
  { verdict, theirs, ours, nearKey }: Answer,
  customers: Awaited<ReturnType<typeof readCustomers>>,
  { zone, currencyExponent }: ProviderSettings,
) {
  const read = theirs !== undefined && !isUnreadable(theirs) ? theirs : undefined;
  const inFull = (row: { amount: Money } | undefined) =>
    row === undefined ? null : formatMoneyInFull(row.amount, currencyExponent);
  return {
    verdict,
    line: theirs?.line ?? null,
    key: theirs?.key ?? ours?.key ?? null,
    theirAmount: inFull(read),
    theirStatus: read?.status ?? null,
    ourAmount: inFull(ours),
    ourStatus: ours?.status ?? null,
    txnId: ours?.txnId ?? null,
    checkoutId: ours?.checkoutId ?? null,
    ...(customers.get(ours?.txnId ?? "") ?? { cuid: null, customer: null }),
    txnDate: ours === undefined ? null : zone.wallTime(ours.at),
    at: ours === undefined ? null : isoTime(ours.at),
    problem: theirs !== undefined && isUnreadable(theirs) ? theirs.problem : nearWords(nearKey),
  };
}

function nearWords(key: string | undefined): string | null {
  return key === undefined ? null : `a top-up has the key ${key}, which differs by leading zeros alone`;
}

/** Totals of both sides, for each verdict and for all. */
export function totalsData({ verdicts, total }: Reconciled, { currencyExponent }: ProviderSettings) {
  const inFull = (amount: Money) => formatMoneyInFull(amount, currencyExponent);
  const show = ({ answers: rows, theirs, ours }: Tally) => {
    return { rows, theirs: inFull(theirs), ours: inFull(ours), difference: inFull(theirs - ours) };
  };
  const found = (Object.keys(VERDICTS) as Verdict[]).filter((verdict) => verdicts.has(verdict));
  return {
    total: show(total),
    verdicts: found.map((verdict) => ({
      verdict,
      ...show(verdicts.get(verdict) ?? NO_TALLY),
      advice: verdict === "matched" ? null : VERDICTS[verdict],
    })),
  };
}
