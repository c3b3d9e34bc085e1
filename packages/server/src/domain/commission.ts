import type { Service } from "./bouquet.ts";
import type { Money } from "./money.ts";
import type { Transaction } from "./transaction.ts";

/* The commission of a partner: the part of a price that it keeps. */

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
function ruleOf(rules: readonly CommissionRule[], sale: Sale, day: string): CommissionRule | undefined {
  const { service, bouquetCode } = sale;
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
