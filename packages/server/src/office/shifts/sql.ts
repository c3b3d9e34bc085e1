import { sql } from "kysely";
import type { AccountKey } from "../../domain/account.ts";
import type { Environment } from "../../domain/customer.ts";
import type { SellerKey } from "../../domain/sale.ts";
import { isTransactionIdEnd } from "../../domain/transaction.ts";
import type { Instant } from "../../domain/wall-time.ts";
import type { Db } from "../../store/engine.ts";
import type { ShiftRow } from "../../store/tables.ts";
import { type Range, topUps } from "../../store/top-up-ranges.ts";

/** A number that no shift had before, inside a transaction that excludes other openings. */
export async function nextShiftId(tx: Db): Promise<number> {
  const last = tx.selectFrom("shift").select((eb) => eb.fn.max("id").as("last"));
  return Number((await last.executeTakeFirst())?.last ?? 0) + 1;
}

export function findOpenShift(db: Db, of: SellerKey): Promise<ShiftRow | undefined> {
  const open = db.selectFrom("shift").selectAll().where("closedAt", "is", null);
  return open.where((eb) => eb.and(keyOf(of))).executeTakeFirst();
}

/** Locks the open shift of a seller until the end of the transaction. */
export async function lockOpenShift(tx: Db, of: SellerKey): Promise<ShiftRow | undefined> {
  const update = tx.updateTable("shift").set((eb) => ({ opening: eb.ref("opening") }));
  await update
    .where("closedAt", "is", null)
    .where((eb) => eb.and(keyOf(of)))
    .execute();
  return findOpenShift(tx, of);
}

const keyOf = ({ seller, partnerId, environment }: SellerKey) => ({ seller, partnerId, environment });

export interface ShiftFilter {
  readonly environment: Environment;
  readonly partnerId?: number | undefined;
  readonly seller?: string | undefined;
  /** Opened at this time or later. */
  readonly from?: Instant | undefined;
  /** Opened before this time. */
  readonly until?: Instant | undefined;
}

/** Shifts, newest first. @param before the id of the last shift of the previous page. */
export function readShifts(db: Db, filter: ShiftFilter, before: number | undefined, limit: number) {
  const { environment, partnerId, seller, from, until } = filter;
  let query = db.selectFrom("shift").selectAll().where("environment", "=", environment);
  if (partnerId !== undefined) query = query.where("partnerId", "=", partnerId);
  if (seller !== undefined) query = query.where("seller", "=", seller);
  if (from !== undefined) query = query.where("openedAt", ">=", from);
  if (until !== undefined) query = query.where("openedAt", "<", until);
  if (before !== undefined) query = query.where("id", "<", before);
  return query.orderBy("id", "desc").limit(limit).execute();
}

export type SaleOfTopUp = Awaited<ReturnType<typeof readSales>>[number];

/** The sales of an account in a range of txnIds, newest first. */
export function readSales(db: Db, account: AccountKey, { least, beyond }: Range, limit: number) {
  const { partnerId, environment } = account;
  return salesWithTopUps(db)
    .where((eb) => eb.and({ "s.partnerId": partnerId, "s.environment": environment }))
    .where("s.txnId", ">=", least)
    .where("s.txnId", "<", beyond)
    .orderBy("s.txnId", "desc")
    .limit(limit)
    .execute();
}

/** A sale of an account; undefined if the account has no such sale. */
export function findSale(db: Db, { partnerId, environment }: AccountKey, txnId: string) {
  const own = salesWithTopUps(db).where("s.txnId", "=", txnId);
  return own.where((eb) => eb.and({ "s.partnerId": partnerId, "s.environment": environment })).executeTakeFirst();
}

function salesWithTopUps(db: Db) {
  const joined = topUps(db).innerJoin("sale as s", "s.txnId", "t.txnId");
  return joined.selectAll("t").select(["s.seller", "s.method", "s.returnedShift"]);
}

/** Sales whose txnId's end is compared in a search. */
const MOST_ENDS = 100_000;

/** The newest sales of an account with a receipt number, or whose txnId ends so. */
export async function searchSales(db: Db, { partnerId, environment }: AccountKey, text: string, limit: number) {
  const numbered = topUps(db)
    .innerJoin("sale as s", "s.txnId", "t.txnId")
    .select("t.txnId")
    .where((eb) => eb.and({ "t.udf1": text, "t.partnerId": partnerId, "t.environment": environment }));
  const found = await numbered.orderBy("t.txnId", "desc").limit(limit).execute();
  const end = text.toUpperCase();
  if (isTransactionIdEnd(end.slice(-25))) {
    const own = db
      .selectFrom("sale")
      .select("txnId")
      .where((eb) => eb.and({ partnerId, environment }));
    const last = own.orderBy("txnId", "desc").limit(MOST_ENDS).as("s");
    const ending = db
      .selectFrom(last)
      .select("s.txnId")
      .where("s.txnId", "like", sql<string>`${`%${end}`}`);
    found.push(...(await ending.orderBy("s.txnId", "desc").limit(limit).execute()));
  }
  const txnIds = [...new Set(found.map(({ txnId }) => txnId))];
  if (txnIds.length === 0) return [];
  const sales = salesWithTopUps(db).where("s.txnId", "in", txnIds);
  return sales.orderBy("s.txnId", "desc").limit(limit).execute();
}

/** Records in which shift the cash of a sale was returned. @returns whether it was not returned before. */
export async function markReturned(tx: Db, txnId: string, returnedShift: number): Promise<boolean> {
  const update = tx.updateTable("sale").set({ returnedShift }).where("txnId", "=", txnId);
  return (await update.where("returnedShift", "is", null).executeTakeFirstOrThrow()).numUpdatedRows > 0n;
}
