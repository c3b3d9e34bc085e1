import { sql } from "kysely";
import type { Environment } from "../../domain/customer.ts";
import type { Money } from "../../domain/money.ts";
import { foldName } from "../../domain/names.ts";
import type { Transaction } from "../../domain/transaction.ts";
import type { Instant } from "../../domain/wall-time.ts";
import type { Db, Engine } from "../../store/engine.ts";
import { transactionOfRow } from "../../store/rows.ts";
import type { TopUpRow } from "../../store/tables.ts";
import {
  endOfStep,
  inRange,
  type Order,
  ofAccount,
  type Range,
  rangeAfter,
  rangeOf,
  STEP_ROWS,
  type TopUps,
  topUps,
} from "../../store/top-up-ranges.ts";
import { MOST_ON_A_PAGE } from "../common.ts";
import { findReversals, type RecordedReversal } from "./sql.ts";

/* Top-ups by a filter: an index gives its source, in the order of txnIds; the other conditions are checked row by row. */

/** Conditions for top-ups. All must hold; an undefined field allows any value. */
export interface TransactionFilter extends ColumnFilter {
  readonly environment: Environment;
  /** The customers, of whom a top-up must have one. */
  readonly cuids?: readonly string[] | undefined;
  readonly amount?: Money | undefined;
  /** Sold by this person. */
  readonly seller?: string | undefined;
  /** Recorded at this time or later. */
  readonly from?: Instant | undefined;
  /** Recorded before this time. */
  readonly until?: Instant | undefined;
}

type ColumnFilter = {
  readonly [Column in keyof Omit<TopUpRow, "environment" | "amount" | "cuid">]?: TopUpRow[Column] | undefined;
};

/** A page looks at this many top-ups, or at as many as it can have: ten times the largest page. */
export const MOST_LOOKED_AT = 10 * MOST_ON_A_PAGE;

export interface TransactionPage {
  /** The `rest` of the previous page; undefined for the first page. */
  readonly before?: string | undefined;
  /** A txnId, or the start of one: transactions after it, oldest first. */
  readonly after?: string | undefined;
  readonly limit: number;
}

export interface FoundTransactions {
  readonly items: readonly Transaction[];
  /** The txnId after which the next page begins; undefined if nothing is left. */
  readonly rest: string | undefined;
  /** Whether the page ended because it had looked at enough, not because it is full. */
  readonly isCut: boolean;
}

/** A page of top-ups, newest first, or oldest first after `page.after`. */
export async function readTransactions(
  engine: Engine,
  filter: TransactionFilter,
  { before, after, limit }: TransactionPage,
): Promise<FoundTransactions> {
  const order = after === undefined ? "desc" : "asc";
  const found: TopUpRow[] = [];
  let rest = before ?? after;
  // If no condition is left to check, the first step fills the page.
  for (const rows of [limit + 1, MOST_LOOKED_AT - limit - 1].filter((each) => each > 0)) {
    const range = rangeAfter(rangeOf(filter.from, filter.until), rest, order);
    const source = await sourceOf(engine, filter, range, order, rows);
    const fitting = filtered(engine.db, stepOf(engine.db, source, order, rows), filter)
      .selectAll("t")
      .orderBy("t.txnId", order);
    found.push(...(await fitting.limit(limit + 1 - found.length).execute()));
    const items = found.slice(0, limit).map(transactionOfRow);
    if (found.length > limit) return { items, rest: items.at(-1)?.txnId, isCut: false };
    rest = await endOfStep(source, order, rows);
    if (rest === undefined) return { items, rest, isCut: false };
  }
  return { items: found.map(transactionOfRow), rest, isCut: true };
}

export const SUMMED = ["count", "amount", "reversed", "reversedAmount"] as const;

/** Sums of some top-ups, and of the reversed ones among them; a reversal counts whatever its day. */
export type TransactionSum = Readonly<Record<(typeof SUMMED)[number], bigint>>;

const summed = (sumBy: (name: keyof TransactionSum) => bigint) =>
  Object.fromEntries(SUMMED.map((name) => [name, sumBy(name)])) as TransactionSum;

export const NO_TOP_UPS = summed(() => 0n);

export function plusSum(a: TransactionSum, b: TransactionSum): TransactionSum {
  return summed((name) => a[name] + b[name]);
}

/** Adds up to `most` top-ups, newest first, in steps. @param before the `rest` of the previous sum. */
export async function addTransactions(
  engine: Engine,
  filter: TransactionFilter,
  before: string | undefined,
  most: number,
): Promise<{ readonly sum: TransactionSum; readonly rest: string | undefined }> {
  let [sum, rest] = [NO_TOP_UPS, before];
  for (let looked = 0; looked < most; looked += STEP_ROWS) {
    const range = rangeAfter(rangeOf(filter.from, filter.until), rest, "desc");
    const source = await sourceOf(engine, filter, range, "desc", STEP_ROWS);
    sum = plusSum(sum, await sumOf(filtered(engine.db, stepOf(engine.db, source, "desc", STEP_ROWS), filter)));
    rest = await endOfStep(source, "desc", STEP_ROWS);
    if (rest === undefined) break;
  }
  return { sum, rest };
}

/** Groups would be sorted: a sum with a filter reads the rows twice as fast. */
async function sumOf(query: TopUps): Promise<TransactionSum> {
  const isReversed = sql`FILTER (WHERE t.status = 'reversed')`;
  const sums = await query
    .select([
      sql<string | null>`cast(count(*) as text)`.as("count"),
      sql<string | null>`cast(sum(t.amount) as text)`.as("amount"),
      sql<string | null>`cast(count(*) ${isReversed} as text)`.as("reversed"),
      sql<string | null>`cast(sum(t.amount) ${isReversed} as text)`.as("reversedAmount"),
    ])
    .executeTakeFirstOrThrow();
  return summed((name) => BigInt(sums[name] ?? 0));
}

/** The first top-ups of a source, of which the database reads no more than are asked for. */
function stepOf(db: Db, source: TopUps, order: Order, rows: number): TopUps {
  return asTopUps(db, source.selectAll("t").orderBy("t.txnId", order).limit(rows));
}

/** The rows of a query as another query, in which each can be filtered. */
function asTopUps(db: Db, rows: ReturnType<typeof allColumns>): TopUps {
  return db.selectFrom(rows.as("t")) as unknown as TopUps;
}

const allColumns = (query: TopUps) => query.selectAll("t");

/** Top-ups of a range, among which are all that a filter allows. @param most enough for a step of this many. */
async function sourceOf(
  engine: Engine,
  filter: TransactionFilter,
  range: Range,
  order: Order,
  most: number,
): Promise<TopUps> {
  const { db } = engine;
  const { environment, partnerId, reqId, udf1, status, seller } = filter;
  const cuids = filter.cuids ?? (reqId === undefined ? undefined : await findHolders(db, environment, reqId));
  if (cuids !== undefined) {
    const txnIds = await txnIdsOfLedgers(engine, filter, cuids, range);
    if (order === "desc") txnIds.reverse();
    // PostgreSQL knows no empty list.
    return topUps(db).where("t.txnId", "in", ["", ...txnIds.slice(0, most + 1)]);
  }
  const base = udf1 === undefined ? topUps(db) : topUps(db).where("t.udf1", "=", udf1);
  const { least, beyond } = range;
  if (udf1 === undefined && seller !== undefined) {
    const sales = db.selectFrom("sale").select("txnId").where("seller", "=", seller);
    const sold = sales.where("environment", "=", environment).where("txnId", ">=", least).where("txnId", "<", beyond);
    return base.where("t.txnId", "in", sold.orderBy("txnId", order).limit(most + 1));
  }
  if (udf1 === undefined && status === "reversed") {
    const reversals = db.selectFrom("reversal").select("txnId").where("txnId", ">=", least).where("txnId", "<", beyond);
    return base.where("t.txnId", "in", reversals.orderBy("txnId", order).limit(most + 1));
  }
  // Almost all top-ups are in production.
  if (udf1 === undefined && partnerId === undefined && environment === "production") return inRange(base, range);
  const partnerIds = partnerId === undefined ? await findPartners(base) : [partnerId];
  const own = (id: number) => ofAccount(base, { partnerId: id, environment }, range, order);
  const [first = 0, ...others] = partnerIds;
  if (others.length === 0) return own(first);
  // Limited apart: PostgreSQL could read and sort all of them.
  const part = (id: number) => allColumns(stepOf(db, own(id), order, most));
  return asTopUps(
    db,
    others.reduce((all, id) => all.unionAll(part(id)), part(first)),
  );
}

/** The customers that have or had a connection of this name. */
async function findHolders(db: Db, environment: Environment, reqId: string): Promise<string[]> {
  const connections = db.selectFrom("connection").select("cuid").where("nameKey", "=", foldName(reqId));
  const former = db.selectFrom("formerConnection").select("cuid").where("reqId", "=", reqId);
  const found = await Promise.all([
    connections.where("environment", "=", environment).execute(),
    former.where("environment", "=", environment).execute(),
  ]);
  return [...new Set(found.flat().map(({ cuid }) => cuid))];
}

/** The txnIds of some customers' ledgers in a range, oldest first. */
async function txnIdsOfLedgers(
  engine: Engine,
  { environment, service, reqId }: TransactionFilter,
  cuids: readonly string[],
  { least, beyond }: Range,
): Promise<string[]> {
  return (await engine.readLedgers(engine.db, environment, cuids))
    .filter((ledger) => (service ?? ledger.service) === ledger.service && (reqId ?? ledger.reqId) === ledger.reqId)
    .flatMap(({ entries }) => entries.flatMap((entry) => (entry.kind === "top_up" ? [entry.txnId] : [])))
    .filter((txnId) => txnId >= least && txnId < beyond)
    .sort();
}

/** The partners that have such top-ups. Each is found by one step in an index. */
async function findPartners(base: TopUps): Promise<number[]> {
  const ids: number[] = [];
  for (;;) {
    const next = base.select("t.partnerId as id").where("t.partnerId", ">", ids.at(-1) ?? 0);
    const found = await next.orderBy("t.partnerId").limit(1).executeTakeFirst();
    if (found === undefined) return ids;
    ids.push(found.id);
  }
}

function filtered(db: Db, query: TopUps, filter: TransactionFilter): TopUps {
  const { from: _, until: __, cuids, amount, seller, ...equal } = filter;
  let narrowed = amount === undefined ? query : query.where("t.amount", "=", Number(amount));
  if (cuids !== undefined) narrowed = narrowed.where("t.cuid", "in", ["", ...cuids]);
  if (seller !== undefined) {
    const sale = db.selectFrom("sale as s").select("s.txnId").where("s.seller", "=", seller);
    narrowed = narrowed.where((eb) => eb.exists(sale.whereRef("s.txnId", "=", "t.txnId" as "s.txnId")));
  }
  for (const [column, value] of Object.entries(equal) as [keyof typeof equal, string | number | undefined][])
    if (value !== undefined) narrowed = narrowed.where(`t.${column}`, "=", value);
  return narrowed;
}

export interface ReversibleTransaction {
  readonly transaction: Transaction;
  /** Undefined if it was not reversed. */
  readonly reversal: RecordedReversal | undefined;
}

/** All top-ups that a filter allows, newest first, up to `atOnce` at a time, with their reversals. */
export async function* readWithReversals(
  engine: Engine,
  filter: TransactionFilter,
  atOnce: number,
): AsyncGenerator<readonly ReversibleTransaction[]> {
  let before: string | undefined;
  do {
    const { items, rest } = await readTransactions(engine, filter, { before, limit: atOnce });
    const reversed = items.filter(({ status }) => status === "reversed").map(({ txnId }) => txnId);
    const reversals = await findReversals(engine.db, reversed);
    yield items.map((transaction) => ({ transaction, reversal: reversals.get(transaction.txnId) }));
    before = rest;
  } while (before !== undefined);
}
