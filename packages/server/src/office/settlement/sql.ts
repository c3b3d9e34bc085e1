import { sql } from "kysely";
import type { Service } from "../../domain/bouquet.ts";
import type { Environment } from "../../domain/customer.ts";
import { type SettlementSum, settledRange } from "../../domain/settlement.ts";
import { dayAfter, type Zone } from "../../domain/wall-time.ts";
import type { Db } from "../office.ts";
import { filtered, inRange, rangeOf, stepsOf, type TopUps, topUps } from "../transactions/sql.ts";

/** A day of the provider's zone, such as `2026-11-20`, of one partner or, if none is named, of all. */
export interface SettledDay {
  readonly environment: Environment;
  readonly partnerId: number | undefined;
  readonly day: string;
}

/** The top-ups of a day, as settlements have them. */
export async function sumTopUps(db: Db, zone: Zone, of: SettledDay): Promise<SettlementSum[]> {
  const times = settledRange(of.day, zone);
  if (times === undefined) return [];
  const range = rangeOf(times.from, times.until);
  const rows: SumRow[] = [];
  for await (const step of stepsOf(db, range)) {
    const sums = inRange(topUps(db), step).where("txnDate", ">=", of.day).where("txnDate", "<", dayAfter(of.day));
    rows.push(...(await sumUp(sums, of)));
  }
  return addUp(rows);
}

/** The reversals of a day, as settlements have them. */
export async function sumReversals(db: Db, of: SettledDay): Promise<SettlementSum[]> {
  const reversals = db
    .selectFrom("reversal")
    .select("txnId")
    .where("wall", ">=", of.day)
    .where("wall", "<", dayAfter(of.day));
  return addUp(await sumUp(topUps(db).where("t.txnId", "in", reversals), of));
}

interface SumRow {
  readonly partnerId: number;
  readonly service: Service;
  readonly bouquetCode: string;
  readonly count: number;
  /** A text: it may be more than a number holds exactly. */
  readonly amount: string;
}

async function sumUp(query: TopUps, { environment, partnerId }: SettledDay): Promise<SumRow[]> {
  return filtered(query, { environment, partnerId })
    .select((eb) => ["t.partnerId", "t.service", "t.bouquetCode", eb.fn.countAll<number>().as("count")])
    .select(sql<string>`cast(sum(t.amount) as text)`.as("amount"))
    .groupBy(["t.partnerId", "t.service", "t.bouquetCode"])
    .execute();
}

/** A sum for each partner, service and bouquet. */
function addUp(rows: readonly SumRow[]): SettlementSum[] {
  const sums = new Map<string, SettlementSum>();
  for (const row of rows) {
    const key = JSON.stringify([row.partnerId, row.service, row.bouquetCode]);
    const { count, amount } = sums.get(key) ?? { count: 0, amount: 0n };
    sums.set(key, { ...row, count: count + Number(row.count), amount: amount + BigInt(row.amount) });
  }
  return [...sums.values()];
}
