import type { Correcting } from "../../domain/correction.ts";
import type { ConnectionKey } from "../../domain/customer.ts";
import type { Transaction } from "../../domain/transaction.ts";
import { CONNECTION_KEY } from "../../store/customers.ts";
import type { Db } from "../../store/engine.ts";
import { flag } from "../../store/rows.ts";
import { endRequest } from "../second-person.ts";

export async function writeBlock(
  tx: Db,
  { cuid, environment, service, reqId }: ConnectionKey,
  blocked: boolean,
  { at, author, reason }: Correcting,
): Promise<void> {
  const key = { cuid, environment, service, reqId };
  await tx
    .updateTable("connection")
    .set({ blocked: flag(blocked) })
    .where((eb) => eb.and(key))
    .execute();
  if (!blocked) return;
  const block = { at: at.instant, wall: at.wall, author, reason };
  await tx
    .insertInto("connectionBlock")
    .values({ ...key, ...block })
    .onConflict((conflict) => conflict.columns(CONNECTION_KEY).doUpdateSet(block))
    .execute();
}

export async function markReversed(
  tx: Db,
  { checkoutId, txnId, partnerId, environment }: Transaction,
  { author, reason, at }: Correcting,
): Promise<void> {
  await tx.updateTable("topUp").set({ status: "reversed" }).where("checkoutId", "=", checkoutId).execute();
  const reversal = { txnId, partnerId, environment, at: at.instant, wall: at.wall, author, reason };
  await tx.insertInto("reversal").values(reversal).execute();
  const by = { state: "confirmed", decidedBy: author, decidedAt: at.instant } as const;
  await endRequest(tx, { kind: "reversal", subject: txnId }, by);
}
