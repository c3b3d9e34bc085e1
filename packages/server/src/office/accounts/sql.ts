import type { AccountKey, StaffEntry } from "../../domain/account.ts";
import type { Db } from "../../store/engine.ts";

export async function findEntry(
  db: Db,
  { partnerId, environment }: AccountKey,
  reference: string,
): Promise<StaffEntry | undefined> {
  const query = db.selectFrom("accountEntry").selectAll();
  const row = await query.where((eb) => eb.and({ partnerId, environment, reference })).executeTakeFirst();
  return row && { ...row, amount: BigInt(row.amount) };
}

export async function insertEntry(tx: Db, { amount, ...entry }: StaffEntry): Promise<void> {
  await tx
    .insertInto("accountEntry")
    .values({ ...entry, amount: Number(amount) })
    .execute();
}
