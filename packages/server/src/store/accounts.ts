import { type AccountKey, chargeOf, type GuardedAccount } from "../domain/account.ts";
import type { Money } from "../domain/money.ts";
import type { Transaction } from "../domain/transaction.ts";
import { sumBalance } from "./account-sums.ts";
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
  const { creditLimit, alertBelow, balance } = row;
  const guarded = toGuarded({ balance, credit_limit: creditLimit });
  return { creditLimit: toMoney(creditLimit), alertBelow: toMoney(alertBelow), guarded };
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
  key: AccountKey,
  { creditLimit, alertBelow, hasDayLimits }: AccountSettings,
): Promise<void> {
  const isGuarded = creditLimit !== undefined || hasDayLimits;
  const values = {
    creditLimit: toColumn(creditLimit),
    alertBelow: toColumn(alertBelow),
    balance: isGuarded ? Number(await readBalance(tx, key)) : null,
  };
  const { partnerId, environment } = key;
  await tx
    .insertInto("account")
    .values({ partnerId, environment, ...values })
    .onConflict((on) => on.columns(["partnerId", "environment"]).doUpdateSet(values))
    .execute();
}

function toColumn(amount: Money | undefined): number | null {
  return amount === undefined ? null : Number(amount);
}

/** The balance now. */
export async function readBalance(db: Db, key: AccountKey): Promise<Money> {
  const { guarded } = await findAccount(db, key);
  return guarded?.balance ?? sumBalance(db, key);
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
