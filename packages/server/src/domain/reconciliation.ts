import type { Money } from "./money.ts";
import type { Transaction, TransactionStatus } from "./transaction.ts";
import type { Instant } from "./wall-time.ts";
import { isPlaceholder } from "./written-value.ts";

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
  /** Whether it owes nothing, and another row of its key was compared. */
  readonly isAside?: true;
  /** Key of a top-up that the file lacks. It differs from the row's key only by leading zeros. */
  readonly nearKey?: string | undefined;
}

export function isUnreadable(row: TheirRow | UnreadableRow): row is UnreadableRow {
  return "problem" in row;
}

/** Key of a top-up; undefined if the partner gave none. */
export function keyOf(transaction: Transaction, key: ReconciliationKey): string | undefined {
  const value = transaction[key];
  return value === undefined || value === "" || isPlaceholder(value) ? undefined : value;
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

  *answers(): Generator<Answer> {
    const lacking = new Map<string, string>();
    for (const [key, { theirs, ours, outside }] of this.#byKey)
      if (typeof key === "string" && theirs.length === 0 && (ours[0] ?? outside)) lacking.set(withoutZeros(key), key);
    for (const rows of this.#byKey.values())
      for (const answer of answersOf(rows)) {
        const isAlone = answer.verdict === "theirs_only";
        yield isAlone ? { ...answer, nearKey: lacking.get(withoutZeros(answer.theirs?.key ?? "")) } : answer;
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

function withoutZeros(key: string): string {
  return key.replace(/^0+(?=[0-9]+$)/, "");
}

/** If more than one row or top-up of a key remains that owes money, all of them are duplicates. */
function* answersOf({ theirs, ours, outside }: Rows): Generator<Answer> {
  const { compared, aside } = divideTheirs(theirs);
  const owed = ours.filter((row) => isOwed(row, true));
  const reversed = ours.filter((row) => !isOwed(row, true));
  for (const row of aside) yield asideOf(row);
  if (compared.length > 1 || owed.length > 1) yield* duplicatesOf(compared, owed, reversed);
  else yield* comparisonOf(compared[0], owed, reversed, outside);
}

function* duplicatesOf(
  compared: Rows["theirs"],
  owed: readonly OurRow[],
  reversed: readonly OurRow[],
): Generator<Answer> {
  for (const row of compared) {
    const isAside = compared.length === 1 && owesNothing(row);
    yield isAside ? asideOf(row) : duplicate(row, undefined);
  }
  for (const row of owed) yield duplicate(undefined, row);
  for (const row of reversed) yield compareRows(undefined, row);
}

/** Compares the only row, if there is one, with the top-up that fits best. */
function* comparisonOf(
  row: TheirRow | UnreadableRow | undefined,
  owed: readonly OurRow[],
  reversed: readonly OurRow[],
  outside: OurRow | undefined,
): Generator<Answer> {
  const isReversedThere = row !== undefined && owesNothing(row);
  const [topUp, ...others] = isReversedThere ? [...reversed, ...owed] : [...owed, ...reversed];
  if (row !== undefined) yield compareRows(row, topUp ?? outside);
  else if (topUp !== undefined) yield compareRows(undefined, topUp);
  for (const other of others) yield compareRows(undefined, other);
}

/**
 * Divides the rows of a key. Aside are failed attempts, and successes with a reversed row of the same amount, which are
 * reversed top-ups. If nothing else is left, one of these is compared.
 */
function divideTheirs(rows: Rows["theirs"]): { readonly compared: Rows["theirs"]; readonly aside: Rows["theirs"] } {
  if (rows.length < 2) return { compared: rows, aside: [] };
  const unread = rows.filter((row) => isUnreadable(row));
  const read = rows.filter((row): row is TheirRow => !isUnreadable(row));
  const withStatus = (status: TheirStatus) => read.filter((row) => row.status === status);
  const failed = withStatus("failed");
  const { paid, undone, refunds, reversed } = pairRefunds(withStatus("success"), withStatus("reversed"));
  const owing = [...unread, ...paid];
  if (owing.length > 0) return { compared: [...owing, ...reversed], aside: [...refunds, ...undone, ...failed] };
  const [first, ...others] = [...reversed, ...undone, ...failed];
  return { compared: first === undefined ? [] : [first], aside: [...refunds, ...others] };
}

/** Rows after each refund met a success of its amount. */
interface PairedRows {
  /** Successes without a refund, those of one amount together. */
  readonly paid: readonly TheirRow[];
  /** Successes with a refund, as reversed. */
  readonly undone: readonly TheirRow[];
  /** The refunds of these. */
  readonly refunds: readonly TheirRow[];
  /** Reversed rows without a success. */
  readonly reversed: readonly TheirRow[];
}

function pairRefunds(successes: readonly TheirRow[], reversals: readonly TheirRow[]): PairedRows {
  const paid = byAmount(successes);
  const [undone, refunds, reversed]: [TheirRow[], TheirRow[], TheirRow[]] = [[], [], []];
  for (const reversal of reversals) {
    const success = paid.get(reversal.amount)?.shift();
    if (success === undefined) reversed.push(reversal);
    else {
      undone.push({ ...success, status: "reversed" });
      refunds.push(reversal);
    }
  }
  return { paid: [...paid.values()].flat(), undone, refunds, reversed };
}

function byAmount(rows: readonly TheirRow[]): ReadonlyMap<Money, TheirRow[]> {
  const groups = new Map<Money, TheirRow[]>();
  for (const row of rows) {
    const group = groups.get(row.amount);
    if (group === undefined) groups.set(row.amount, [row]);
    else group.push(row);
  }
  return groups;
}

function owesNothing(row: TheirRow | UnreadableRow): boolean {
  return !isUnreadable(row) && row.status !== "success";
}

function asideOf(theirs: TheirRow | UnreadableRow): Answer {
  return { ...compareRows(theirs, undefined), isAside: true };
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
