import type { Environment } from "../../domain/customer.ts";
import type { Sale } from "../../domain/sale.ts";
import type { StaffAct } from "../../domain/staff.ts";
import { isTransactionId, type Transaction } from "../../domain/transaction.ts";
import type { Db } from "../../store/engine.ts";
import type { Ports } from "../../store/ports.ts";
import { transactionOfRow } from "../../store/rows.ts";
import { readHorizon } from "../../store/settings.ts";
import { inRange, rangeOf, STEP_ROWS, stepsOf, topUps } from "../../store/top-up-ranges.ts";

/** The time, author and reason of a reversal. */
export type RecordedReversal = StaffAct;

/** Top-ups whose txnId's end is compared in a search. */
const MOST_ENDS = 100_000;

/** @param id a txnId or a checkoutId. */
export async function findTransaction(db: Db, id: string): Promise<Transaction | undefined> {
  const column = isTransactionId(id) ? "txnId" : "checkoutId";
  const row = await db.selectFrom("topUp").selectAll().where(column, "=", id).executeTakeFirst();
  return row && transactionOfRow(row);
}

/** Finds transactions, by their txnIds. */
export async function findByTxnIds(db: Db, txnIds: readonly string[]): Promise<Map<string, Transaction>> {
  if (txnIds.length === 0) return new Map();
  const rows = await db.selectFrom("topUp").selectAll().where("txnId", "in", txnIds).execute();
  return new Map(rows.map((row) => [row.txnId, transactionOfRow(row)]));
}

/** Finds the newest top-ups by the end of their txnIds, among the last {@link MOST_ENDS}, a step at a time. */
export async function findByTxnIdEnd(db: Db, environment: Environment, end: string, limit: number) {
  const found: Transaction[] = [];
  let looked = 0;
  for await (const step of stepsOf(db, rangeOf(undefined, undefined))) {
    // No other column is selected, so that the index of txnIds suffices.
    const query = inRange(topUps(db), step).select("t.txnId").where("t.txnId", "like", `%${end}`);
    const txnIds = (await query.execute()).map(({ txnId }) => txnId);
    const some = newestFirst([...(await findByTxnIds(db, txnIds)).values()]);
    found.push(...some.filter((each) => each.environment === environment));
    looked += STEP_ROWS;
    if (found.length >= limit || looked >= MOST_ENDS) break;
  }
  return found.slice(0, limit);
}

function newestFirst(transactions: readonly Transaction[]): Transaction[] {
  return transactions.toSorted((a, b) => (a.txnId < b.txnId ? 1 : -1));
}

/** Finds the reversals of top-ups, by their txnIds. */
export async function findReversals(db: Db, txnIds: readonly string[]): Promise<Map<string, RecordedReversal>> {
  if (txnIds.length === 0) return new Map();
  const rows = await db.selectFrom("reversal").selectAll().where("txnId", "in", txnIds).execute();
  return new Map(rows.map(({ txnId, at, wall, author, reason }) => [txnId, { at, wall, author, reason }]));
}

/** Finds who sold top-ups, and how they were paid, by their txnIds. Those of partners' programs are missing. */
export async function findSales(db: Db, txnIds: readonly string[]): Promise<Map<string, Sale>> {
  if (txnIds.length === 0) return new Map();
  const rows = await db.selectFrom("sale").selectAll().where("txnId", "in", txnIds).execute();
  return new Map(rows.map(({ txnId, seller, method }) => [txnId, { seller, method }]));
}

/** The day before which history was deleted; null if a list from `from` is complete. */
export async function prunedBefore({ store }: Pick<Ports, "store">, from: number | undefined): Promise<string | null> {
  const horizon = await readHorizon(store.engine.db);
  if (horizon === undefined || (from !== undefined && from >= horizon)) return null;
  return store.provider.zone.wallTime(horizon).slice(0, 10);
}
