import { type AccountKey, addSums, NO_SALES, type SaleSums } from "./account.ts";
import type { Service } from "./bouquet.ts";
import type { Environment } from "./customer.ts";
import type { Money } from "./money.ts";
import type { Transaction, TransactionStatus } from "./transaction.ts";
import { firstOfMonth, type Instant, lastOfMonth, readDay, type Zone } from "./wall-time.ts";

/** Sums of the top-ups and reversals of one account, bouquet and day of the provider's clock. */
export interface DaySales extends AccountKey, SaleSums {
  readonly day: string;
  readonly service: Service;
  readonly bouquetCode: string;
}

/**
 * Top-ups recorded on a day, and reversals made on it (whenever their top-ups were made). A past day never changes, not even
 * if its history is deleted (docs/decisions.md, "Settlement").
 */
export interface SettlementLine extends SaleSums {
  readonly day: string;
  readonly partnerId: number;
  /** Undefined if the line sums up all services of a day. */
  readonly service: Service | undefined;
  /** Undefined if the line sums up all bouquets of a service. */
  readonly bouquetCode: string | undefined;
}

/** Detail of the lines: one for each bouquet, service or day. */
export const SETTLEMENT_DETAILS = ["bouquet", "service", "day"] as const;
type SettlementDetail = (typeof SETTLEMENT_DETAILS)[number];

/** Commission of the top-ups, less that of the reversed ones. */
export function keptOf({ commission, returned }: SaleSums): Money {
  return commission - returned;
}

/** Amount that the partner owes; negative if more was reversed than topped up. */
export function netOf(sums: SaleSums): Money {
  return sums.gross - sums.reversed - keptOf(sums);
}

/** Days of a partner's settlement, both included. */
export interface SettledDays {
  readonly from: string;
  readonly to: string;
  readonly partnerId: number;
  readonly environment: Environment;
}

/**
 * The number of a settlement on paper, always the same for the same days: `2026-11-P7` for a whole month, or
 * `20261101-20261115-P7`. The trial environment's end with `-T`.
 */
export function settlementNumber({ from, to, partnerId, environment }: SettledDays): string {
  const isMonth = from === firstOfMonth(from) && to === lastOfMonth(from);
  const days = isMonth ? from.slice(0, 7) : `${from.replaceAll("-", "")}-${to.replaceAll("-", "")}`;
  return `${days}-P${partnerId}${environment === "trial" ? "-T" : ""}`;
}

/** The lines of a day, ordered by partner, service and bouquet. */
export function settleDay(sales: readonly DaySales[], detail: SettlementDetail): SettlementLine[] {
  const lines = new Map<string, SettlementLine>();
  for (const { day, partnerId, service, bouquetCode, ...sums } of sales) {
    const label = {
      day,
      partnerId,
      service: detail === "day" ? undefined : service,
      bouquetCode: detail === "bouquet" ? bouquetCode : undefined,
    };
    const key = JSON.stringify(label);
    lines.set(key, { ...label, ...addSums(lines.get(key) ?? NO_SALES, sums) });
  }
  return [...lines.values()].sort(compareLines);
}

function compareLines(a: SettlementLine, b: SettlementLine): number {
  if (a.partnerId !== b.partnerId) return a.partnerId - b.partnerId;
  // Compares by code units, so that every machine has the same order.
  const key = (line: SettlementLine) => `${line.service ?? ""} ${line.bouquetCode ?? ""}`;
  return key(a) < key(b) ? -1 : 1;
}

/** Fields that can match a partner's row with a top-up. */
export const RECONCILIATION_KEYS = ["checkoutId", "txnId", "udf1"] as const;
export type ReconciliationKey = (typeof RECONCILIATION_KEYS)[number];

/** Status of a top-up in the partner's file; `failed` means no top-up. */
export const THEIR_STATUSES = ["success", "reversed", "failed"] as const;
export type TheirStatus = (typeof THEIR_STATUSES)[number];

/** A readable row of the partner's file. */
export interface TheirRow {
  /** Line number, from 1. */
  readonly line: number;
  readonly key: string;
  readonly amount: Money;
  readonly status: TheirStatus;
}

/** A row that cannot be compared, and why. Without a key it matches nothing. */
export interface UnreadableRow {
  readonly line: number;
  readonly key: string | undefined;
  readonly problem: string;
}

/** A top-up in a reconciliation. */
export interface OurRow {
  /** Undefined if the partner gave no such reference: then no row matches. */
  readonly key: string | undefined;
  readonly txnId: string;
  readonly checkoutId: string;
  readonly amount: Money;
  readonly status: TransactionStatus;
  readonly at: Instant;
  /** Whether the top-up was recorded in the reconciled period. */
  readonly isInPeriod: boolean;
  /** Number of top-ups read that were recorded after this one. */
  readonly newer: number;
  /**
   * Whether the top-up was reversed after the period: the reversal is settled on its own day, so both statuses match.
   */
  readonly isReversedLater: boolean;
}

export type Verdict = keyof typeof VERDICTS;

/** Every result of a comparison, and what to do about it (docs/decisions.md, "Settlement"). */
export const VERDICTS = {
  matched: "Nothing: both books say the same.",
  amount_differs:
    "Ask the partner what it took from its customer. Ours is the price that was quoted, and no other can be topped up.",
  status_differs:
    "One book says that the money was given back, or never taken. Find out whether it was: then reverse the top-up, or have the partner correct its book.",
  other_period:
    "It was recorded on a day outside of the period: settle it with that day, and a reversal with the day on which it was made. By udf1, see that it is no second order with the same reference.",
  theirs_only:
    "None was found of this partner in this environment. Have the partner ask txn-status with the checkoutId, and give the money back where that says never_topped_up; where it says checkout_unknown, look further.",
  ours_only: "The top-up was made. Have the partner add it to its book: txn-status confirms it by the checkoutId.",
  duplicate:
    "The key stands more than once in the file, or with more than one top-up here, so nothing was compared. Reconcile by another key, or these rows by hand.",
  unreadable: "Have the row put right, or say how its columns and words are to be read: it was not compared.",
} as const;

/** The result for a row of the file, a top-up, or both if they match. */
export interface Answer {
  readonly verdict: Verdict;
  readonly theirs: TheirRow | UnreadableRow | undefined;
  readonly ours: OurRow | undefined;
}

export function isUnreadable(row: TheirRow | UnreadableRow): row is UnreadableRow {
  return "problem" in row;
}

/** Key of a top-up; undefined if the partner gave none. */
export function keyOf(transaction: Transaction, key: ReconciliationKey): string | undefined {
  const value = transaction[key];
  return value === "" ? undefined : value;
}

/**
 * Compares a row with its top-up. A missing counterpart is no difference if no money is owed: partners may list failed
 * requests or omit reversed ones. The amount of a failed row is ignored.
 */
export function compareRows(theirs: TheirRow | UnreadableRow | undefined, ours: OurRow | undefined): Answer {
  return { verdict: verdictOf(theirs, ours), theirs, ours };
}

function verdictOf(theirs: Answer["theirs"], ours: OurRow | undefined): Verdict {
  if (theirs !== undefined && isUnreadable(theirs)) return "unreadable";
  const isPaidThere = theirs?.status === "success";
  const isPaidHere = ours !== undefined && isOwed(ours, isPaidThere);
  if (theirs === undefined) return isPaidHere ? "ours_only" : "matched";
  if (ours === undefined) return isPaidThere ? "theirs_only" : "matched";
  if (theirs.status !== "failed" && theirs.amount !== ours.amount) return "amount_differs";
  if (isPaidThere !== isPaidHere) return "status_differs";
  return ours.isInPeriod ? "matched" : "other_period";
}

function isOwed({ status, isReversedLater }: OurRow, isPaidThere: boolean): boolean {
  return status === "success" || (isReversedLater && isPaidThere);
}

/** Rows and top-ups with the same key; a row without a key is alone. */
interface Rows {
  readonly theirs: (TheirRow | UnreadableRow)[];
  readonly ours: OurRow[];
  /** Used only if the period has no match: a partner may reuse a reference on another day. */
  outside?: OurRow;
}

/** Matches rows and top-ups by their keys, in any order. */
export class Join {
  readonly #byKey = new Map<string | symbol, Rows>();

  addTheirs(row: TheirRow | UnreadableRow): void {
    this.#of(row.key).theirs.push(row);
  }

  addOurs(row: OurRow): void {
    const found = this.#of(row.key);
    if (row.isInPeriod) found.ours.push(row);
    else found.outside ??= row;
  }

  /** If a key is repeated on either side, all its rows are duplicates. */
  *answers(): Generator<Answer> {
    for (const { theirs, ours, outside } of this.#byKey.values()) {
      const [row, ...moreTheirs] = theirs;
      const [topUp, ...moreOurs] = ours;
      if (moreTheirs.length + moreOurs.length > 0) {
        for (const each of theirs) yield duplicate(each, undefined);
        for (const each of ours) yield duplicate(undefined, each);
      } else if (row !== undefined || topUp !== undefined) yield compareRows(row, topUp ?? (row && outside));
    }
  }

  #of(key: string | undefined): Rows {
    const known = key === undefined ? undefined : this.#byKey.get(key);
    if (known !== undefined) return known;
    const rows = { theirs: [], ours: [] };
    this.#byKey.set(key ?? Symbol("no key"), rows);
    return rows;
  }
}

function duplicate(theirs: Answer["theirs"], ours: OurRow | undefined): Answer {
  // An unreadable row must be fixed first.
  const isUnread = theirs !== undefined && isUnreadable(theirs);
  return { verdict: isUnread ? "unreadable" : "duplicate", theirs, ours };
}

/** Number of answers of one verdict, and their amounts in both books. */
export interface Tally {
  readonly answers: number;
  /**
   * Amount of top-ups in the period that are not reversed. One reversed later counts if the other book has it as paid.
   */
  readonly ours: Money;
  /** Amount of rows with the status `success`. */
  readonly theirs: Money;
}

export const NO_TALLY: Tally = { answers: 0, ours: 0n, theirs: 0n };

/** Adds an answer. Every top-up and row is in exactly one answer, so that tallies add up to both books. */
export function tally(before: Tally, { theirs, ours }: Answer): Tally {
  const isOwedThere = theirs !== undefined && !isUnreadable(theirs) && theirs.status === "success";
  const isOwedHere = ours?.isInPeriod === true && isOwed(ours, isOwedThere);
  return {
    answers: before.answers + 1,
    ours: before.ours + (isOwedHere ? ours.amount : 0n),
    theirs: before.theirs + (isOwedThere ? theirs.amount : 0n),
  };
}

/** Margin for changes of the zone's rules since a top-up was dated. */
const RULES_CHANGE_BY_MS = 3 * 60 * 60_000;

/** Time range of a day's top-ups, `until` excluded; undefined if there is no such day. */
export function settledRange(day: string, zone: Zone): { readonly from: Instant; readonly until: Instant } | undefined {
  const found = readDay(day, zone);
  return found && { from: found.start - RULES_CHANGE_BY_MS, until: found.end + RULES_CHANGE_BY_MS };
}
