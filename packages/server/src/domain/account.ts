import type { Service } from "./bouquet.ts";
import type { Environment } from "./customer.ts";
import type { Money } from "./money.ts";
import type { Transaction } from "./top-up.ts";
import { type Instant, type Moment, plus, type WallTime } from "./wall-time.ts";

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

/** The price of a top-up for its partner. A reversal returns exactly this. */
export function chargeOf({ amount, commission }: Pick<Transaction, "amount" | "commission">): Money {
  return amount - commission;
}

/** A rule for a partner's commission. It has a percentage or a fixed amount. */
export interface CommissionRule {
  /** Undefined: any service. */
  readonly service: Service | undefined;
  /** Undefined: any bouquet. */
  readonly bouquetCode: string | undefined;
  /** Hundredths of a percent: 250 is 2.5 %. */
  readonly percent: number | undefined;
  /** Amount for each top-up. */
  readonly fixed: Money | undefined;
  /** First day of the rule, such as `2026-12-01`. */
  readonly from: string;
}

type Sale = Pick<Transaction, "service" | "bouquetCode" | "amount">;

/** The rule of a day: the most specific one (bouquet, service, partner), and of those the one that began last. */
export function ruleOf(
  rules: readonly CommissionRule[],
  { service, bouquetCode }: Pick<Sale, "service" | "bouquetCode">,
  day: string,
): CommissionRule | undefined {
  let best: CommissionRule | undefined;
  for (const rule of rules) {
    const isOther =
      (rule.service ?? service) !== service || (rule.bouquetCode ?? bouquetCode) !== bouquetCode || rule.from > day;
    if (!isOther && (best === undefined || compareRules(rule, best) >= 0)) best = rule;
  }
  return best;
}

function compareRules(a: CommissionRule, b: CommissionRule): number {
  return rankOf(a) - rankOf(b) || (a.from < b.from ? -1 : 1);
}

function rankOf({ service, bouquetCode }: CommissionRule): number {
  return (bouquetCode === undefined ? 0 : 2) + (service === undefined ? 0 : 1);
}

/** The rules that can apply on a day. */
export function rulesInForce(rules: readonly CommissionRule[], day: string): readonly CommissionRule[] {
  return rules.filter((rule) => rule.from <= day && !isReplaced(rules, rule, day));
}

function isReplaced(rules: readonly CommissionRule[], rule: CommissionRule, day: string): boolean {
  return rules.some((other) => isSameScope(other, rule) && other.from <= day && other.from > rule.from);
}

export function isSameScope(a: CommissionRule, b: CommissionRule): boolean {
  return a.service === b.service && a.bouquetCode === b.bouquetCode;
}

export const MOST_COMMISSION_RULES = 100;

/** Adds a rule. It replaces that of the same scope and day; rules that can never apply again are dropped. */
export function withRule(rules: readonly CommissionRule[], rule: CommissionRule, today: string): CommissionRule[] {
  const all = [...rules.filter((each) => !isSameScope(each, rule) || each.from !== rule.from), rule];
  return all
    .filter((each) => !isReplaced(all, each, today))
    .sort((a, b) => (a.from < b.from ? -1 : a.from > b.from ? 1 : 0));
}

const WHOLE = 10_000n;

/** The commission of a top-up, rounded to the nearest minor unit (half up). It is at most the price. */
export function commissionOf(rules: readonly CommissionRule[], sale: Sale, day: string): Money {
  if (rules.length === 0) return 0n;
  const { percent = 0, fixed } = ruleOf(rules, sale, day) ?? {};
  const commission = fixed ?? (sale.amount * BigInt(percent) + WHOLE / 2n) / WHOLE;
  return commission < sale.amount ? commission : sale.amount;
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
  /** The day of the two sums. */
  readonly day: string;
  readonly dayTopUps: number;
  readonly dayAmount: Money;
}

export const LIMIT_NAMES = ["top_up_amount", "day_amount", "day_top_ups", "paid_ahead"] as const;
export type LimitName = (typeof LIMIT_NAMES)[number];

/** `missing`: how much the balance lacks. */
export type Charge =
  | { readonly ok: true; readonly account: GuardedAccount | undefined }
  | { readonly ok: false; readonly refusal: "limit_reached"; readonly limit: LimitName }
  | { readonly ok: false; readonly refusal: "insufficient_balance"; readonly missing: Money };

/** Charges a top-up to its account, or refuses it. @param account undefined if it is not guarded. */
export function charge(
  account: GuardedAccount | undefined,
  { topUpAmount, dayAmount, dayTopUps }: SaleLimits,
  topUp: Pick<Transaction, "amount" | "commission">,
  today: string,
): Charge {
  const { amount } = topUp;
  if (topUpAmount !== undefined && amount > topUpAmount) return limitReached("top_up_amount");
  if (account === undefined) return { ok: true, account };
  const { day, creditLimit } = account;
  const count = (day === today ? account.dayTopUps : 0) + 1;
  const sum = (day === today ? account.dayAmount : 0n) + amount;
  if (dayTopUps !== undefined && count > dayTopUps) return limitReached("day_top_ups");
  if (dayAmount !== undefined && sum > dayAmount) return limitReached("day_amount");
  const balance = account.balance - chargeOf(topUp);
  if (creditLimit !== undefined && balance < -creditLimit)
    return { ok: false, refusal: "insufficient_balance", missing: -creditLimit - balance };
  return { ok: true, account: { balance, creditLimit, day: today, dayTopUps: count, dayAmount: sum } };
}

function limitReached(limit: LimitName): Charge {
  return { ok: false, refusal: "limit_reached", limit };
}

export const DEFAULT_MONTHS_AHEAD = 36;
export const MOST_MONTHS_AHEAD = 12_000;

/** The latest end that a top-up may reach. */
export function latestEnd({ wall }: Moment, monthsAhead: number): WallTime {
  return plus(wall, { months: monthsAhead, days: 0 });
}
