import { type Kysely, sql } from "kysely";
import type { Service } from "../../domain/bouquet.ts";
import type { SettlementSum } from "../../domain/settlement.ts";
import { dayAfter, type Instant } from "../../domain/wall-time.ts";
import { readDay, type Zone } from "../../domain/zone.ts";
import type { SettledDay } from "../search.ts";
import type { Tables } from "../tables.ts";
import { filtered, inRange, rangeOf, stepsOf, type TopUps, topUps } from "./transactions.ts";

type Db = Kysely<Tables>;

/** The zone's rules may be others today than they were when a top-up was dated. */
const RULES_CHANGE_BY_MS = 3 * 60 * 60_000;

/** The times of a day's top-ups: from one, to before another; undefined if there is no such day. */
export function settledRange(day: string, zone: Zone): { readonly from: Instant; readonly until: Instant } | undefined {
  const found = readDay(day, zone);
  return found && { from: found.start - RULES_CHANGE_BY_MS, until: found.end + RULES_CHANGE_BY_MS };
}

/** The top-ups of a day, as settlements have them. */
export async function sumTopUps(db: Db, zone: Zone, of: SettledDay): Promise<SettlementSum[]> {
  const times = settledRange(of.day, zone);
  if (times === undefined) return [];
  const range = rangeOf(times.from, times.until);
  const rows: SumRow[] = [];
  for await (const step of stepsOf(db, range)) {
    const sums = inRange(topUps(db), step).where("txn_date", ">=", of.day).where("txn_date", "<", dayAfter(of.day));
    rows.push(...(await sumUp(sums, of)));
  }
  return addUp(rows);
}

/** The reversals of a day, as settlements have them. */
export async function sumReversals(db: Db, of: SettledDay): Promise<SettlementSum[]> {
  const reversals = db
    .selectFrom("reversal")
    .select("txn_id")
    .where("wall", ">=", of.day)
    .where("wall", "<", dayAfter(of.day));
  return addUp(await sumUp(topUps(db).where("t.txn_id", "in", reversals), of));
}

interface SumRow {
  readonly partner_id: number;
  readonly service: Service;
  readonly bouquet_code: string;
  readonly count: number;
  /** A text: it may be more than a number holds exactly. */
  readonly amount: string;
}

async function sumUp(query: TopUps, { environment, partnerId }: SettledDay): Promise<SumRow[]> {
  return filtered(query, { environment, partnerId })
    .select((eb) => ["t.partner_id", "t.service", "t.bouquet_code", eb.fn.countAll<number>().as("count")])
    .select(sql<string>`cast(sum(t.amount) as text)`.as("amount"))
    .groupBy(["t.partner_id", "t.service", "t.bouquet_code"])
    .execute();
}

/** A sum for each partner, service and bouquet. */
function addUp(rows: readonly SumRow[]): SettlementSum[] {
  const sums = new Map<string, SettlementSum>();
  for (const { partner_id: partnerId, service, bouquet_code: bouquetCode, count, amount } of rows) {
    const key = JSON.stringify([partnerId, service, bouquetCode]);
    const before = sums.get(key) ?? { partnerId, service, bouquetCode, count: 0, amount: 0n };
    sums.set(key, { ...before, count: before.count + Number(count), amount: before.amount + BigInt(amount) });
  }
  return [...sums.values()];
}
