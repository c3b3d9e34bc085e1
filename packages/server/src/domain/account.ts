import type { CommissionRule } from "./commission.ts";
import type { Environment } from "./customer.ts";
import type { Money } from "./money.ts";
import type { Transaction } from "./transaction.ts";
import { dayAfter, type Instant, type WallTime } from "./wall-time.ts";

/*
 * The account of a partner in an environment. Staff make some entries; the others follow from top-ups and reversals. The
 * balance is the sum of all entries.
 */

export interface AccountKey {
  readonly partnerId: number;
  readonly environment: Environment;
}

export const STAFF_ENTRY_KINDS = ["deposit", "withdrawal", "adjustment"] as const;
export type StaffEntryKind = (typeof STAFF_ENTRY_KINDS)[number];
export const ACCOUNT_ENTRY_KINDS = [...STAFF_ENTRY_KINDS, "top_up", "reversal"] as const;

/** An entry by staff. */
export interface StaffEntry extends AccountKey {
  readonly kind: StaffEntryKind;
  /** Effect on the balance: negative for a withdrawal. */
  readonly amount: Money;
  /** Unique in the account. */
  readonly reference: string;
  readonly reason: string;
  readonly author: string;
  readonly at: Instant;
  readonly wall: WallTime;
}

/** An entry that follows from a top-up or its reversal. */
export interface SaleEntry extends AccountKey {
  readonly kind: "top_up" | "reversal";
  readonly amount: Money;
  /** The top-up. */
  readonly of: Transaction;
  readonly at: Instant;
  readonly wall: WallTime;
}

export type AccountEntry = StaffEntry | SaleEntry;

/** The amount that the partner can still spend; undefined without a credit limit. */
export function availableOf(balance: Money, creditLimit: Money | undefined): Money | undefined {
  return creditLimit === undefined ? undefined : balance + creditLimit;
}

/** `low`: below the bound of its alert. `spent`: nothing is available, so top-ups are refused. */
export const BALANCE_STATES = ["good", "low", "spent"] as const;

export function balanceState(
  balance: Money,
  { creditLimit, alertBelow }: { readonly creditLimit: Money | undefined; readonly alertBelow: Money | undefined },
): (typeof BALANCE_STATES)[number] {
  const available = availableOf(balance, creditLimit);
  if (available !== undefined && available <= 0n) return "spent";
  return alertBelow !== undefined && balance < alertBelow ? "low" : "good";
}

export const OWING = ["partner", "provider", "nobody"] as const;

/** The debtor of a balance. Nothing is owed in the trial environment. */
export function owingOf({ environment }: Pick<AccountKey, "environment">, balance: Money): (typeof OWING)[number] {
  if (environment === "trial" || balance === 0n) return "nobody";
  return balance < 0n ? "partner" : "provider";
}

/** The price of a top-up for its partner. A reversal returns exactly this. */
export function chargeOf({ amount, commission }: Pick<Transaction, "amount" | "commission">): Money {
  return amount - commission;
}

/** Sums of some top-ups and reversals. */
export interface SaleSums {
  readonly topUps: number;
  readonly gross: Money;
  /** Commission of these top-ups. */
  readonly commission: Money;
  readonly reversals: number;
  /** Prices of the reversed top-ups. */
  readonly reversed: Money;
  /** Commission of the reversed top-ups. */
  readonly returned: Money;
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

export interface StaffSum {
  readonly count: number;
  /** Effect on the balance. */
  readonly amount: Money;
}

/** Sums of all entries of some days. */
export type AccountSums = SaleSums & { readonly [Kind in StaffEntryKind]: StaffSum };

export function balanceOfSums(sums: AccountSums): Money {
  const { gross, commission, reversed, returned, deposit, withdrawal, adjustment } = sums;
  return deposit.amount + withdrawal.amount + adjustment.amount - (gross - commission) + (reversed - returned);
}

/** Limits of a partner's top-ups. Undefined: no limit. */
export interface SaleLimits {
  readonly topUpAmount: Money | undefined;
  /** The total of a day of the provider's clock, in each environment. Reversals do not count. */
  readonly dayAmount: Money | undefined;
  readonly dayTopUps: number | undefined;
}

/** Whether the accounts of a partner with these limits are guarded even without a credit limit. */
export function hasDayLimits({ dayAmount, dayTopUps }: SaleLimits): boolean {
  return dayAmount !== undefined || dayTopUps !== undefined;
}

/** The agreement with a partner about its top-ups. */
export interface PartnerTerms {
  readonly limits: SaleLimits;
  readonly commission: readonly CommissionRule[];
}

export const NO_SALE_LIMITS: SaleLimits = { topUpAmount: undefined, dayAmount: undefined, dayTopUps: undefined };
export const NO_TERMS: PartnerTerms = { limits: NO_SALE_LIMITS, commission: [] };

/**
 * The stored balance of an account that can refuse a top-up: it has a credit limit, or its partner a limit a day. Each batch
 * of top-ups changes it once.
 */
export interface GuardedAccount {
  readonly balance: Money;
  /** Undefined: none. */
  readonly creditLimit: Money | undefined;
}

export const LIMIT_NAMES = ["top_up_amount", "day_amount", "day_top_ups", "paid_ahead"] as const;
export type LimitName = (typeof LIMIT_NAMES)[number];

/** `balance`: after the top-up; undefined if the account is not guarded. */
export type Charge = { readonly ok: true; readonly balance: Money | undefined } | RefusedCharge;

export interface RefusedCharge {
  readonly ok: false;
  readonly refusal: "insufficient_balance" | "limit_reached";
  /** The limit of `limit_reached`. */
  readonly limit?: LimitName;
  /** How much the balance lacks. */
  readonly missing?: Money;
}

/**
 * Charges a top-up to its account, or refuses it.
 * @param account undefined if it is not guarded.
 * @param soldToday called only if there is a limit a day.
 */
export function charge(
  account: GuardedAccount | undefined,
  { topUpAmount, dayAmount, dayTopUps }: SaleLimits,
  topUp: Pick<Transaction, "amount" | "commission">,
  soldToday: () => Pick<SaleSums, "topUps" | "gross">,
): Charge {
  const { amount } = topUp;
  if (topUpAmount !== undefined && amount > topUpAmount) return limitReached("top_up_amount");
  if (account === undefined) return { ok: true, balance: undefined };
  if (dayTopUps !== undefined || dayAmount !== undefined) {
    const { topUps, gross } = soldToday();
    if (dayTopUps !== undefined && topUps + 1 > dayTopUps) return limitReached("day_top_ups");
    if (dayAmount !== undefined && gross + amount > dayAmount) return limitReached("day_amount");
  }
  const { creditLimit } = account;
  const balance = account.balance - chargeOf(topUp);
  if (creditLimit !== undefined && balance < -creditLimit)
    return { ok: false, refusal: "insufficient_balance", missing: -creditLimit - balance };
  return { ok: true, balance };
}

export function limitReached(limit: LimitName): RefusedCharge {
  return { ok: false, refusal: "limit_reached", limit };
}

/** When time ends a limit that was reached: at the end of that day. Undefined if time does not end it. */
export function endOfLimit(limit: LimitName, reachedAt: WallTime): WallTime | undefined {
  const isOfDay = limit === "day_amount" || limit === "day_top_ups";
  return isOfDay ? `${dayAfter(reachedAt.slice(0, "YYYY-MM-DD".length))} 00:00:00` : undefined;
}
