import { type AccountKey, chargeOf, type GuardedAccount } from "../domain/account.ts";
import type { Money } from "../domain/money.ts";
import type { Transaction } from "../domain/transaction.ts";
import type { Instant, Zone } from "../domain/wall-time.ts";
import { sumAccount, sumBalance } from "./account-sums.ts";
import type { Db } from "./engine.ts";
import { toGuarded } from "./guarded-accounts.ts";

/* Settings of accounts, and balances: that of a guarded account is stored, any other is summed up. */

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
  const today = zone.wallTime(now).slice(0, 10);
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

/** The balance now. */
export async function readBalance(db: Db, zone: Zone, key: AccountKey): Promise<Money> {
  const { guarded } = await findAccount(db, key);
  return guarded?.balance ?? sumBalance(db, zone, key);
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
