import { sql } from "kysely";
import {
  type AccountKey,
  type AccountSums,
  addSums,
  balanceOfSums,
  NO_SALES,
  type SaleSums,
  type StaffEntryKind,
  type StaffSum,
} from "../domain/account.ts";
import type { Money } from "../domain/money.ts";
import { settledRange } from "../domain/settlement.ts";
import { dayAfter, type Zone } from "../domain/wall-time.ts";
import type { Db } from "./engine.ts";
import { inRange, rangeOf, stepsOf, type TopUps, topUps } from "./top-up-ranges.ts";

/* Sums of accounts: of entries by staff, of stored days (account_day), and of the top-ups and reversals since. */

/** Days such as `2026-11-20`, both included; undefined for no bound. */
export interface Days {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** The balance as its entries say. */
export async function sumBalance(db: Db, zone: Zone, key: AccountKey, days: Days = {}): Promise<Money> {
  return balanceOfSums(await sumAccount(db, zone, key, days));
}

export async function sumAccount(db: Db, zone: Zone, key: AccountKey, days: Days): Promise<AccountSums> {
  return { ...(await sumSales(db, zone, key, days)), ...(await sumByStaff(db, key, days)) };
}

export async function sumSales(db: Db, zone: Zone, key: AccountKey, days: Days = {}): Promise<SaleSums> {
  // A day that is stored meanwhile must not count twice.
  const first = (await firstOpenDay(db)) ?? "";
  const open = { from: (days.from ?? "") > first ? days.from : first || undefined, to: days.to };
  let sales = await sumStored(db, key, days, first);
  for await (const day of saleDays(db, zone, open, key)) sales = addSums(sales, day);
  return sales;
}

/** The day after the last stored one; undefined if none is stored. Days without an entry have no row. */
export async function firstOpenDay(db: Db): Promise<string | undefined> {
  const query = db.selectFrom("accountDay").select((eb) => eb.fn.max("day").as("last"));
  const last = (await query.executeTakeFirst())?.last;
  return last == null ? undefined : dayAfter(last);
}

/** Digits, since a number may be too small to hold a sum exactly. */
const digits = (column: string) => sql<string | null>`cast(sum(${sql.ref(column)}) as text)`;

/** @param before the first day that is not stored. */
async function sumStored(
  db: Db,
  { partnerId, environment }: AccountKey,
  { from, to }: Days,
  before: string,
): Promise<SaleSums> {
  let days = db.selectFrom("accountDay").where("partnerId", "=", partnerId).where("environment", "=", environment);
  days = days.where("day", "<", before);
  if (from !== undefined) days = days.where("day", ">=", from);
  if (to !== undefined) days = days.where("day", "<=", to);
  const names = ["topUps", "gross", "commission", "reversals", "reversed", "returned"] as const;
  const row = await days.select(names.map((name) => digits(name).as(name))).executeTakeFirstOrThrow();
  const { topUps, gross, commission, reversals, reversed, returned } = row;
  return {
    topUps: Number(topUps),
    gross: BigInt(gross ?? 0),
    commission: BigInt(commission ?? 0),
    reversals: Number(reversals),
    reversed: BigInt(reversed ?? 0),
    returned: BigInt(returned ?? 0),
  };
}

/** Sums of the top-ups and reversals of an account on a day. */
export interface DaySums extends AccountKey, SaleSums {
  readonly day: string;
}

/** Sums recorded top-ups and reversals. A day may have several sums. @param key undefined: those of all accounts. */
export async function* saleDays(db: Db, zone: Zone, days: Days, key?: AccountKey): AsyncGenerator<DaySums> {
  for await (const { count, amount, commission, ...of } of topUpDays(db, zone, days, key)) {
    const sums = { topUps: Number(count), gross: BigInt(amount ?? 0), commission: BigInt(commission ?? 0) };
    yield { ...of, ...NO_SALES, ...sums };
  }
  for (const { count, amount, commission, ...of } of await reversalDays(db, days, key)) {
    const sums = { reversals: Number(count), reversed: BigInt(amount ?? 0), returned: BigInt(commission ?? 0) };
    yield { ...of, ...NO_SALES, ...sums };
  }
}

/** Reads in small steps: there may be several rows of a day. */
async function* topUpDays(db: Db, zone: Zone, { from, to }: Days, key: AccountKey | undefined) {
  const start = from === undefined ? undefined : settledRange(from, zone)?.from;
  const end = to === undefined ? undefined : settledRange(to, zone)?.until;
  const day = sql<string>`substr(t.txn_date, 1, 10)`;
  for await (const step of stepsOf(db, rangeOf(start, end))) {
    let query = ofAccount(inRange(topUps(db), step), key);
    if (from !== undefined) query = query.where("t.txnDate", ">=", from);
    if (to !== undefined) query = query.where("t.txnDate", "<", dayAfter(to));
    yield* await query
      .select((eb) => ["t.partnerId", "t.environment", day.as("day"), eb.fn.countAll().as("count")])
      .select([digits("t.amount").as("amount"), digits("t.commission").as("commission")])
      .groupBy(["t.partnerId", "t.environment", day])
      .execute();
  }
}

function reversalDays(db: Db, { from, to }: Days, key: AccountKey | undefined) {
  const day = sql<string>`substr(r.wall, 1, 10)`;
  let query = db.selectFrom("reversal as r").innerJoin("topUp as t", "t.txnId", "r.txnId");
  if (key !== undefined)
    query = query.where("t.partnerId", "=", key.partnerId).where("t.environment", "=", key.environment);
  if (from !== undefined) query = query.where("r.wall", ">=", from);
  if (to !== undefined) query = query.where("r.wall", "<", dayAfter(to));
  return query
    .select((eb) => ["t.partnerId", "t.environment", day.as("day"), eb.fn.countAll().as("count")])
    .select([digits("t.amount").as("amount"), digits("t.commission").as("commission")])
    .groupBy(["t.partnerId", "t.environment", day])
    .execute();
}

export function ofAccount(query: TopUps, key: AccountKey | undefined): TopUps {
  if (key === undefined) return query;
  return query.where("t.partnerId", "=", key.partnerId).where("t.environment", "=", key.environment);
}

export async function sumByStaff(db: Db, { partnerId, environment }: AccountKey, { from, to }: Days = {}) {
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
