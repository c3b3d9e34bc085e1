import { type Kysely, sql } from "kysely";
import { type AccountKey, chargeOf, type GuardedAccount, type StaffEntryKind } from "../domain/account.ts";
import type { Money } from "../domain/money.ts";
import { settledRange } from "../domain/settlement.ts";
import type { Transaction } from "../domain/top-up.ts";
import { dayAfter, type Instant, type Zone } from "../domain/wall-time.ts";
import { toGuarded } from "./access.ts";
import type { AccountDayRow, Tables } from "./tables.ts";
import { inRange, rangeOf, stepsOf, type TopUps, topUps } from "./top-up-ranges.ts";

/*
 * Balances of accounts. That of a guarded account is stored; any other is the sum of its entries by staff, of closed days
 * (account_day), and of the top-ups and reversals since.
 */

type Db = Kysely<Tables>;

export interface Account {
  readonly creditLimit: Money | undefined;
  readonly alertBelow: Money | undefined;
  /** Undefined if the account is not guarded. */
  readonly guarded: GuardedAccount | undefined;
}

export async function findAccount(db: Db, { partnerId, environment }: AccountKey): Promise<Account> {
  const rows = db.selectFrom("account").selectAll().where("partnerId", "=", partnerId);
  const row = await rows.where("environment", "=", environment).executeTakeFirst();
  if (row === undefined) return { creditLimit: undefined, alertBelow: undefined, guarded: undefined };
  const { creditLimit, alertBelow, balance, day, dayTopUps, dayAmount } = row;
  const guard = { balance, credit_limit: creditLimit, day, day_top_ups: dayTopUps, day_amount: dayAmount };
  return { creditLimit: toMoney(creditLimit), alertBelow: toMoney(alertBelow), guarded: toGuarded(guard) };
}

function toMoney(minor: number | null): Money | undefined {
  return minor === null ? undefined : BigInt(minor);
}

/** Settings of an account. `hasDayLimits`: whether its partner has limits a day. */
export interface AccountSettings extends Pick<Account, "creditLimit" | "alertBelow"> {
  readonly hasDayLimits: boolean;
}

/** Stores settings. Recording must be locked: an account that becomes guarded starts with the sum of its entries. */
export async function putAccount(
  tx: Db,
  zone: Zone,
  key: AccountKey,
  { creditLimit, alertBelow, hasDayLimits }: AccountSettings,
  now: Instant,
): Promise<void> {
  const today = zone.wallTime(now).slice(0, DAY_LENGTH);
  const isGuarded = creditLimit !== undefined || hasDayLimits;
  const known = isGuarded ? (await findAccount(tx, key)).guarded : undefined;
  const guarded = isGuarded ? (known ?? (await sumGuarded(tx, zone, key, today))) : undefined;
  const { balance, dayTopUps = 0, dayAmount = 0n } = guarded ?? {};
  const values = {
    creditLimit: toColumn(creditLimit),
    alertBelow: toColumn(alertBelow),
    balance: toColumn(balance),
    day: guarded?.day ?? today,
    dayTopUps,
    dayAmount: Number(dayAmount),
  };
  const { partnerId, environment } = key;
  await tx
    .insertInto("account")
    .values({ partnerId, environment, ...values })
    .onConflict((on) => on.columns(["partnerId", "environment"]).doUpdateSet(values))
    .execute();
}

async function sumGuarded(
  tx: Db,
  zone: Zone,
  key: AccountKey,
  day: string,
): Promise<Omit<GuardedAccount, "creditLimit">> {
  const { topUps: dayTopUps, gross: dayAmount } = await sumAccount(tx, zone, key, { from: day, to: day });
  return { balance: await sumBalance(tx, zone, key), day, dayTopUps, dayAmount };
}

function toColumn(amount: Money | undefined): number | null {
  return amount === undefined ? null : Number(amount);
}

/** Adds to the stored balance, if the account is guarded. */
export async function addToBalance(tx: Db, { partnerId, environment }: AccountKey, amount: Money): Promise<void> {
  await tx
    .updateTable("account")
    .set((eb) => ({ balance: eb("balance", "+", Number(amount)) }))
    .where("partnerId", "=", partnerId)
    .where("environment", "=", environment)
    .where("balance", "is not", null)
    .execute();
}

/** Returns the charge of a reversed top-up to its account. */
export function returnCharge(tx: Db, transaction: Transaction): Promise<void> {
  return addToBalance(tx, transaction, chargeOf(transaction));
}

/** Sums of the top-ups and reversals of some days. */
export type SaleSums = {
  readonly [Sum in Exclude<keyof AccountDayRow, "partnerId" | "environment" | "day">]: Sum extends
    | "topUps"
    | "reversals"
    ? number
    : Money;
};

interface StaffSum {
  readonly count: number;
  /** Effect on the balance. */
  readonly amount: Money;
}

/** Sums of all entries of some days. */
export type AccountSums = SaleSums & { readonly [Kind in StaffEntryKind]: StaffSum };

/** Days such as `2026-11-20`, both included; undefined for no bound. */
export interface Days {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export function balanceOfSums(sums: AccountSums): Money {
  const { gross, commission, reversed, returned, deposit, withdrawal, adjustment } = sums;
  return deposit.amount + withdrawal.amount + adjustment.amount - (gross - commission) + (reversed - returned);
}

/** The balance now. */
export async function readBalance(db: Db, zone: Zone, key: AccountKey): Promise<Money> {
  const { guarded } = await findAccount(db, key);
  return guarded?.balance ?? sumBalance(db, zone, key);
}

/** The balance as its entries say. */
export async function sumBalance(db: Db, zone: Zone, key: AccountKey, days: Days = {}): Promise<Money> {
  return balanceOfSums(await sumAccount(db, zone, key, days));
}

export async function sumAccount(db: Db, zone: Zone, key: AccountKey, days: Days): Promise<AccountSums> {
  // A day that is stored meanwhile must not count twice.
  const first = (await firstOpenDay(db)) ?? "";
  const stored = await sumStored(db, key, days, first);
  const open = { from: (days.from ?? "") > first ? days.from : first || undefined, to: days.to };
  const sales = [stored, await sumTopUps(db, zone, key, open), await sumReversals(db, key, open)];
  return { ...sales.reduce(addSums), ...(await sumByStaff(db, key, days)) };
}

export const NO_SALES: SaleSums = { topUps: 0, gross: 0n, commission: 0n, reversals: 0, reversed: 0n, returned: 0n };

export function addSums(a: SaleSums, b: SaleSums): SaleSums {
  return {
    topUps: a.topUps + b.topUps,
    gross: a.gross + b.gross,
    commission: a.commission + b.commission,
    reversals: a.reversals + b.reversals,
    reversed: a.reversed + b.reversed,
    returned: a.returned + b.returned,
  };
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
    ...{ topUps: Number(topUps), gross: BigInt(gross ?? 0), commission: BigInt(commission ?? 0) },
    ...{ reversals: Number(reversals), reversed: BigInt(reversed ?? 0), returned: BigInt(returned ?? 0) },
  };
}

async function sumTopUps(db: Db, zone: Zone, key: AccountKey, days: Days): Promise<SaleSums> {
  let sums = NO_SALES;
  for await (const row of topUpDays(db, zone, days, key)) sums = addSums(sums, ofTopUps(row));
  return sums;
}

async function sumReversals(db: Db, key: AccountKey, days: Days): Promise<SaleSums> {
  return (await reversalDays(db, days, key)).map(ofReversals).reduce(addSums, NO_SALES);
}

export interface DaySum extends AccountKey {
  readonly day: string;
  readonly count: number | string | bigint;
  readonly amount: string | null;
  readonly commission: string | null;
}

export function ofTopUps({ count, amount, commission }: DaySum): SaleSums {
  return { ...NO_SALES, topUps: Number(count), gross: BigInt(amount ?? 0), commission: BigInt(commission ?? 0) };
}

export function ofReversals({ count, amount, commission }: DaySum): SaleSums {
  return { ...NO_SALES, reversals: Number(count), reversed: BigInt(amount ?? 0), returned: BigInt(commission ?? 0) };
}

const DAY_LENGTH = "YYYY-MM-DD".length;

/** Sums of top-ups by account and day, in small steps: there may be several sums of a day. */
export async function* topUpDays(db: Db, zone: Zone, { from, to }: Days, key?: AccountKey): AsyncGenerator<DaySum> {
  const start = from === undefined ? undefined : settledRange(from, zone)?.from;
  const end = to === undefined ? undefined : settledRange(to, zone)?.until;
  const day = sql<string>`substr(t.txn_date, 1, ${sql.lit(DAY_LENGTH)})`;
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

export async function reversalDays(db: Db, { from, to }: Days, key?: AccountKey): Promise<DaySum[]> {
  const day = sql<string>`substr(r.wall, 1, ${sql.lit(DAY_LENGTH)})`;
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
