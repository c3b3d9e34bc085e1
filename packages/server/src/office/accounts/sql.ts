import type { AccountKey, StaffEntry } from "../../domain/account.ts";
import type { Db } from "../office.ts";

export async function findEntry(db: Db, key: AccountKey, reference: string): Promise<StaffEntry | undefined> {
  const row = await ofAccount(db, key).selectAll().where("reference", "=", reference).executeTakeFirst();
  return row && { ...row, amount: BigInt(row.amount) };
}

function ofAccount(db: Db, { partnerId, environment }: AccountKey) {
  return db.selectFrom("accountEntry").where("partnerId", "=", partnerId).where("environment", "=", environment);
}

export async function insertEntry(tx: Db, { amount, ...entry }: StaffEntry): Promise<void> {
  await tx
    .insertInto("accountEntry")
    .values({ ...entry, amount: Number(amount) })
    .execute();
}

/** Locks the stored balance of an account against top-ups, if it has one. */
export async function lockBalance(tx: Db, { partnerId, environment }: AccountKey): Promise<void> {
  const account = tx.updateTable("account").set((eb) => ({ balance: eb.ref("balance") }));
  await account.where("partnerId", "=", partnerId).where("environment", "=", environment).execute();
}
