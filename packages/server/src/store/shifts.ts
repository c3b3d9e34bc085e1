import { cashExpected, cashRows, SALE_METHODS, type SaleSum, type ShiftSums } from "../domain/sale.ts";
import type { Db } from "./engine.ts";
import { digits } from "./sales.ts";
import { readHorizon } from "./settings.ts";
import type { CheckEvent } from "./store.ts";
import type { ShiftRow } from "./tables.ts";

/** Sums the sales and returns of a shift. An open shift has the sales of its seller that no shift has yet. */
export async function sumShift(db: Db, shift: ShiftRow, isTaken = shift.closedAt !== null): Promise<ShiftSums> {
  const { id, seller, partnerId, environment } = shift;
  const sold = await sales(db)
    .select("s.method")
    .where((eb) => eb.and({ "s.seller": seller, "s.partnerId": partnerId, "s.environment": environment }))
    .where((eb) => (isTaken ? eb("s.shiftId", "=", id) : eb("s.shiftId", "is", null)))
    .groupBy("s.method")
    .execute();
  const returned = await sales(db).where("s.returnedShift", "=", id).executeTakeFirst();
  const byMethod = SALE_METHODS.map((method) => [method, toSum(sold.find((row) => row.method === method))]);
  return { ...Object.fromEntries(byMethod), returned: toSum(returned) } as ShiftSums;
}

/** The number and the sum of sales. */
function sales(db: Db) {
  const joined = db.selectFrom("sale as s").innerJoin("topUp as t", "t.txnId", "s.txnId");
  return joined.select((eb) => [eb.fn.countAll<number>().as("count"), digits("t.amount").as("amount")]);
}

function toSum(row: { readonly count: number; readonly amount: string | null } | undefined): SaleSum {
  return { count: Number(row?.count ?? 0), amount: BigInt(row?.amount ?? 0) };
}

/** Gives the shift all sales of its seller that no shift has yet, inside the transaction that closes it. */
export async function takeSales(tx: Db, { id, seller, partnerId, environment }: ShiftRow): Promise<void> {
  const update = tx.updateTable("sale").set({ shiftId: id }).where("shiftId", "is", null);
  await update.where((eb) => eb.and({ seller, partnerId, environment })).execute();
}

/** Checks that sales are those of their top-ups, and that closed shifts expect the cash of their sales. */
export async function* checkShifts(db: Db): AsyncGenerator<CheckEvent> {
  let wrong = 0;
  const unlike = db
    .selectFrom("sale as s")
    .leftJoin("topUp as t", (join) =>
      join
        .onRef("t.txnId", "=", "s.txnId")
        .onRef("t.partnerId", "=", "s.partnerId")
        .onRef("t.environment", "=", "s.environment"),
    );
  for (const { txnId } of await unlike.select("s.txnId").where("t.txnId", "is", null).execute()) {
    wrong += 1;
    yield { kind: "wrong", what: `the sale ${txnId} has no top-up of its account` };
  }
  const isPruned = (await readHorizon(db)) !== undefined;
  const closed = await db.selectFrom("shift").selectAll().where("closedAt", "is not", null).execute();
  for (const shift of closed) {
    const sums = await sumShift(db, shift);
    const [rows, expected] = [cashRows(sums), cashExpected(BigInt(shift.opening), sums)];
    const isWhole = rows === shift.cashRows && expected === BigInt(shift.expected ?? 0);
    // Deleted history may have taken sales away.
    if (isWhole || (isPruned && rows < (shift.cashRows ?? 0))) continue;
    wrong += 1;
    yield { kind: "wrong", what: `shift ${shift.id} of ${shift.seller}: the expected cash is not that of its sales` };
  }
  if (wrong === 0)
    yield { kind: "checked", what: "closed shifts expect the cash of their sales", count: closed.length };
}
