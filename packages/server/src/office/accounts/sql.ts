import type { AccountKey, StaffEntry } from "../../domain/account.ts";
import { findAccount } from "../../store/accounts.ts";
import type { Db } from "../../store/engine.ts";

/** Whether staff keep the account: it has a credit limit, or an entry. */
export async function isKept(db: Db, { partnerId, environment }: AccountKey): Promise<boolean> {
  const { creditLimit } = await findAccount(db, { partnerId, environment });
  if (creditLimit !== undefined) return true;
  const query = db.selectFrom("accountEntry").select("reference").limit(1);
  return (await query.where((eb) => eb.and({ partnerId, environment })).executeTakeFirst()) !== undefined;
}

export async function insertEntry(tx: Db, { amount, ...entry }: StaffEntry): Promise<void> {
  await tx
    .insertInto("accountEntry")
    .values({ ...entry, amount: Number(amount) })
    .execute();
}
