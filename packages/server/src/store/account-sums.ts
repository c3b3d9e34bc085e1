import {
  type AccountKey,
  type AccountSums,
  balanceOfSums,
  type StaffEntryKind,
  type StaffSum,
} from "../domain/account.ts";
import type { Money } from "../domain/money.ts";
import { dayAfter } from "../domain/wall-time.ts";
import type { Db } from "./engine.ts";
import { type Days, digits, sumSales } from "./sales.ts";

/* Sums of accounts: of sales, and of entries by staff. */

/** The balance as its entries say. */
export async function sumBalance(db: Db, key: AccountKey, days: Days = {}): Promise<Money> {
  return balanceOfSums(await sumAccount(db, key, days));
}

export async function sumAccount(db: Db, key: AccountKey, days: Days): Promise<AccountSums> {
  return { ...(await sumSales(db, { ...key, ...days })), ...(await sumByStaff(db, key, days)) };
}

async function sumByStaff(db: Db, { partnerId, environment }: AccountKey, { from, to }: Days) {
  let query = db.selectFrom("accountEntry").where("partnerId", "=", partnerId).where("environment", "=", environment);
  if (from !== undefined) query = query.where("wall", ">=", from);
  if (to !== undefined) query = query.where("wall", "<", dayAfter(to));
  const rows = await query
    .select((eb) => ["kind", eb.fn.countAll().as("count"), digits("amount").as("amount")])
    .groupBy("kind")
    .execute();
  const of = (kind: StaffEntryKind): StaffSum => {
    const { count = 0, amount } = rows.find((row) => row.kind === kind) ?? {};
    return { count: Number(count), amount: BigInt(amount ?? 0) };
  };
  return { deposit: of("deposit"), withdrawal: of("withdrawal"), adjustment: of("adjustment") };
}
