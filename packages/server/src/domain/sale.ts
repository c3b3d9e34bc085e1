import type { AccountKey } from "./account.ts";
import type { AuditedChange } from "./audit.ts";
import type { Money } from "./money.ts";
import type { TransactionStatus } from "./transaction.ts";

/* Sales at a counter: top-ups that a person made, and the shifts in which the cash is counted. */

export const SALE_METHODS = ["cash", "card", "wallet"] as const;
export type SaleMethod = (typeof SALE_METHODS)[number];

/** The part of a sale that a top-up of a program lacks. */
export interface Sale {
  /** The name of the person. */
  readonly seller: string;
  /** How the customer paid. */
  readonly method: SaleMethod;
}

/** A person who sells for an account. */
export interface SellerKey extends AccountKey {
  readonly seller: string;
}

/** The number of some sales, and the sum of their amounts. */
export interface SaleSum {
  readonly count: number;
  readonly amount: Money;
}

/** The sales of a shift by method, and the cash that was returned in it. */
export type ShiftSums = Readonly<Record<SaleMethod | "returned", SaleSum>>;

/** The cash that must be there: the opening and the cash sales, without the returned cash. */
export function cashExpected(opening: Money, { cash, returned }: ShiftSums): Money {
  return opening + cash.amount - returned.amount;
}

/** The number of sales and returns in {@link cashExpected}. */
export function cashRows({ cash, returned }: ShiftSums): number {
  return cash.count + returned.count;
}

/** `reversal_requested`: staff have not decided yet. `reversal_refused`: it can be requested again. */
export const SALE_STATES = ["sold", "reversal_requested", "reversal_refused", "reversed"] as const;

/** @param request the state of the last request for a reversal. */
export function saleState(
  status: TransactionStatus,
  request: "waiting" | "confirmed" | "refused" | "expired" | undefined,
): (typeof SALE_STATES)[number] {
  if (status === "reversed") return "reversed";
  if (request === "waiting") return "reversal_requested";
  return request === "refused" ? "reversal_refused" : "sold";
}

/* Audit entries. The amounts have all digits of the currency. */

export function shiftOpened(partner: string, opening: string): AuditedChange {
  return { action: "shift.open", subject: partner, before: undefined, after: { opening } };
}

export function shiftClosed(
  partner: string,
  closed: Readonly<Record<"expected" | "counted", string>> & { readonly note: string | undefined },
): AuditedChange {
  return { action: "shift.close", subject: partner, before: undefined, after: closed };
}

/** @param subject the txnId and the connection of the top-up. */
export function cashReturned(subject: string, amount: string): AuditedChange {
  return { action: "sale.cash_returned", subject, before: undefined, after: { amount } };
}
