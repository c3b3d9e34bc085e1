import type { Environment } from "../../domain/customer.ts";
import { type SettlementDetail, type SettlementLine, settleDay, splitSales } from "../../domain/settlement.ts";
import type { Tax } from "../../domain/tax.ts";
import { dayAfter } from "../../domain/wall-time.ts";
import type { Db } from "../../store/engine.ts";
import type { OwnDays } from "../../store/own-pages.ts";
import { readSales } from "../../store/sales.ts";
import type { Office } from "../office.ts";
import { readTaxes } from "../taxes/sql.ts";

export type Days = AsyncGenerator<readonly SettlementLine[]>;

/** One partner, or all. */
interface SettledBy {
  readonly environment: Environment;
  readonly partnerId: number | undefined;
}

/** Yields settled days, oldest first. A top-up counts on the day of its record, a reversal on its own day. */
export async function* settleDays(
  { engine }: Office["store"],
  of: SettledBy,
  { from, to, detail = "bouquet" }: OwnDays & { readonly detail?: SettlementDetail | undefined },
): Days {
  // A top-up that was decided on one of these days may still wait for its commit.
  await engine.awaitCommits();
  const taxes = await readTaxes(engine.db);
  for (let day = from; day <= to; day = dayAfter(day)) {
    // One view: a reversal that is made meanwhile is in the sums and has its day, or neither.
    const sales = await engine.view((db) => readSettled(db, of, day, taxes));
    yield settleDay(sales, detail);
  }
}

async function readSettled(db: Db, of: SettledBy, day: string, taxes: readonly Tax[]) {
  const sales = await readSales(db, { ...of, from: day, to: day });
  return sales.map((sale) => ({ ...sale, split: splitSales(sale, taxes) }));
}
