import type { Service } from "./bouquet.ts";
import type { Money } from "./money.ts";
import type { Transaction, TransactionStatus } from "./top-up.ts";
import type { Instant } from "./wall-time.ts";
import { readDay, type Zone } from "./zone.ts";

/** What top-ups, or reversals, of one bouquet by one partner come to. */
export interface SettlementSum {
  readonly partnerId: number;
  readonly service: Service;
  readonly bouquetCode: string;
  readonly count: number;
  readonly amount: Money;
}

/**
 * The top-ups that were recorded on a day and the reversals that were made on it, of whatever day's top-ups: a day that is
 * over never changes, but where its history is let go (decisions, "Settlement").
 */
export interface SettlementLine extends SettlementTotal {
  readonly day: string;
  readonly partnerId: number;
  /** Undefined where the services of a day are put together. */
  readonly service: Service | undefined;
  /** Undefined where the bouquets of a service are put together. */
  readonly bouquetCode: string | undefined;
}

export interface SettlementTotal {
  readonly topUps: number;
  readonly gross: Money;
  readonly reversals: number;
  readonly reversed: Money;
}

/** How fine the lines are: of each bouquet, or only of each service, or only of each day. */
export const SETTLEMENT_DETAILS = ["bouquet", "service", "day"] as const;
type SettlementDetail = (typeof SETTLEMENT_DETAILS)[number];

export const NOTHING_SETTLED: SettlementTotal = { topUps: 0, gross: 0n, reversals: 0, reversed: 0n };

/** What the partner owes: it may be negative on a day on which more was taken back than topped up. */
export function netOf({ gross, reversed }: SettlementTotal): Money {
  return gross - reversed;
}

export function addTotals(a: SettlementTotal, b: SettlementTotal): SettlementTotal {
  return {
    topUps: a.topUps + b.topUps,
    gross: a.gross + b.gross,
    reversals: a.reversals + b.reversals,
    reversed: a.reversed + b.reversed,
  };
}

/** The lines of a day, ordered by partner, service and bouquet. */
export function settleDay(
  day: string,
  topUps: readonly SettlementSum[],
  reversals: readonly SettlementSum[],
  detail: SettlementDetail,
): SettlementLine[] {
  const lines = new Map<string, SettlementLine>();
  const add = ({ partnerId, service, bouquetCode }: SettlementSum, amounts: Partial<SettlementTotal>) => {
    const label = {
      ...{ day, partnerId },
      service: detail === "day" ? undefined : service,
      bouquetCode: detail === "bouquet" ? bouquetCode : undefined,
    };
    const key = JSON.stringify(label);
    const added = addTotals(lines.get(key) ?? NOTHING_SETTLED, { ...NOTHING_SETTLED, ...amounts });
    lines.set(key, { ...label, ...added });
  };
  for (const sum of topUps) add(sum, { topUps: sum.count, gross: sum.amount });
  for (const sum of reversals) add(sum, { reversals: sum.count, reversed: sum.amount });
  return [...lines.values()].sort(compareLines);
}

function compareLines(a: SettlementLine, b: SettlementLine): number {
  if (a.partnerId !== b.partnerId) return a.partnerId - b.partnerId;
  // By their characters, so that every machine has the same order.
  const [key, other] = [a, b].map(({ service = "", bouquetCode = "" }) => `${service} ${bouquetCode}`) as [
    string,
    string,
  ];
  return key < other ? -1 : 1;
}

/** By what a partner's rows and the top-ups here are told to be the same. */
export const RECONCILIATION_KEYS = ["checkoutId", "txnId", "udf1"] as const;
export type ReconciliationKey = (typeof RECONCILIATION_KEYS)[number];

/** What became of a top-up by the partner's book; `failed` where it says that none was made. */
export const THEIR_STATUSES = ["success", "reversed", "failed"] as const;
export type TheirStatus = (typeof THEIR_STATUSES)[number];

/** A row of the partner's file that can be compared. */
export interface TheirRow {
  /** Counted from 1, as editors do. */
  readonly line: number;
  readonly key: string;
  readonly amount: Money;
  readonly status: TheirStatus;
}

/** A row that cannot, and why. Without a key, nothing can be told to be its counterpart either. */
export interface UnreadableRow {
  readonly line: number;
  readonly key: string | undefined;
  readonly problem: string;
}

/** A top-up, as far as it takes part. */
export interface OurRow {
  /** Undefined where the partner gave no such reference: then nothing of the file is its counterpart. */
  readonly key: string | undefined;
  readonly txnId: string;
  readonly checkoutId: string;
  readonly amount: Money;
  readonly status: TransactionStatus;
  readonly at: Instant;
  /** Whether it was recorded in the period that is reconciled, and so counts for it. */
  readonly isInPeriod: boolean;
  /** How many were recorded after it, of those that were read. */
  readonly newer: number;
  /** Whether it was taken back after the period: it is settled on that day, however the partner's book has it here. */
  readonly isReversedLater: boolean;
}

export type Verdict = keyof typeof VERDICTS;

/** Everything that an answer can be, with what is to be done about it (decisions, "Settlement"). */
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

/** What is said of a row of the file, of a top-up, or of both where they belong together. */
export interface Answer {
  readonly verdict: Verdict;
  readonly theirs: TheirRow | UnreadableRow | undefined;
  readonly ours: OurRow | undefined;
}

export function isUnreadable(row: TheirRow | UnreadableRow): row is UnreadableRow {
  return "problem" in row;
}

/** The key of a top-up; undefined where the partner gave none. */
export function keyOf(transaction: Transaction, key: ReconciliationKey): string | undefined {
  const value = transaction[key];
  return value === "" ? undefined : value;
}

/**
 * Compares one row with its counterpart. Where neither book says that money is owed, a missing counterpart is no
 * difference: partners list attempts that failed, or leave out what was given back. Of what failed, nobody took an amount.
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

/** What has one key; a row without any is by itself. */
interface Rows {
  readonly theirs: (TheirRow | UnreadableRow)[];
  readonly ours: OurRow[];
  /** Taken only where there is none of the period: a partner may use its references again on another day. */
  outside?: OurRow;
}

/** Brings rows together by their keys, in whatever order they come. */
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

  /** All rows of a key that stands more than once on either side are duplicates. */
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
  // What cannot be read must be put right before anything else can be said of it.
  const isUnread = theirs !== undefined && isUnreadable(theirs);
  return { verdict: isUnread ? "unreadable" : "duplicate", theirs, ours };
}

/** How many answers there are of a kind, and what the rows in them come to by the two books. */
export interface Tally {
  readonly answers: number;
  /** Of top-ups of the period that were not reversed; one that was so later counts as it does in the other book. */
  readonly ours: Money;
  /** Of rows with the status `success`. */
  readonly theirs: Money;
}

export const NO_TALLY: Tally = { answers: 0, ours: 0n, theirs: 0n };

/** Every top-up of the period and every row is in exactly one answer, so that tallies add up to both books. */
export function tally(before: Tally, { theirs, ours }: Answer): Tally {
  const isOwedThere = theirs !== undefined && !isUnreadable(theirs) && theirs.status === "success";
  const isOwedHere = ours?.isInPeriod === true && isOwed(ours, isOwedThere);
  return {
    answers: before.answers + 1,
    ours: before.ours + (isOwedHere ? ours.amount : 0n),
    theirs: before.theirs + (isOwedThere ? theirs.amount : 0n),
  };
}

/** The zone's rules may be others today than they were when a top-up was dated. */
const RULES_CHANGE_BY_MS = 3 * 60 * 60_000;

/** The times of a day's top-ups: from one, to before another; undefined if there is no such day. */
export function settledRange(day: string, zone: Zone): { readonly from: Instant; readonly until: Instant } | undefined {
  const found = readDay(day, zone);
  return found && { from: found.start - RULES_CHANGE_BY_MS, until: found.end + RULES_CHANGE_BY_MS };
}
