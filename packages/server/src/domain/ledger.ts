import { isDeepStrictEqual } from "node:util";
import {
  type BouquetLabel,
  importedSubscription,
  isRunning,
  lengthened,
  newRun,
  type StatedSubscription,
  type Subscription,
  shortened,
} from "./subscription.ts";
import { type Instant, LAST_WALL_TIME, type Moment, type Period, plus } from "./wall-time.ts";

/*
 * The ledger of one plan on one connection. It is appended to and never changed, and every entry holds the subscription
 * after it. No clock, zone or store is known here: whoever calls turns "now" into a Moment once, and the rest is civil
 * arithmetic. Source: the ledger's page, sections 2 and 3.
 */

export type Event = TopUp | Goodwill | Reversal | Import;

/** A partner's top-up: one period of the bouquet. */
export interface TopUp {
  readonly kind: "top_up";
  readonly txnId: string;
  readonly bouquet: BouquetLabel;
  readonly period: Period;
}

/** Days that staff give for nothing. */
export interface Goodwill extends Reasoned {
  readonly kind: "goodwill";
  readonly bouquet: BouquetLabel;
  readonly period: Period;
}

/** Takes back one top-up or goodwill, once and for good: from now on the ledger is counted without it. */
export interface Reversal extends Reasoned {
  readonly kind: "reversal";
  /** The number of the entry that is taken back. */
  readonly of: number;
}

/** The provider's records: they hold every top-up and reversal made here up to `asOf`, and no goodwill. */
export interface Import {
  readonly kind: "import";
  readonly asOf: Moment;
  /** Undefined where the records have no such subscription. */
  readonly stated: StatedSubscription | undefined;
  /** The first entry of the run that was on at `asOf`: what is older was used up by then. */
  readonly since: number;
}

interface Reasoned {
  readonly author: string;
  readonly reason: string;
}

/** An event on record, numbered from 1 within its ledger, and the subscription after it. */
export type Entry = Event & {
  readonly seq: number;
  readonly at: Moment;
  readonly after: Subscription | undefined;
};

export interface Ledger {
  readonly plan: string;
  /** Oldest first; the oldest may have been let go. */
  readonly entries: readonly Entry[];
}

/** What a ledger's last entry says: all that a top-up needs to know of it. */
export interface LedgerHead {
  readonly plan: string;
  readonly seq: number;
  readonly subscription: Subscription | undefined;
}

export type Grant = TopUp | Goodwill;

export function headOf({ plan, entries }: Ledger): LedgerHead {
  const last = entries.at(-1);
  return { plan, seq: last?.seq ?? 0, subscription: last?.after };
}

/** The entry that a top-up or goodwill makes. */
export function appendGrant({ plan, seq: last, subscription }: LedgerHead, grant: Grant, at: Moment): Entry {
  // What is new stands before what is copied: behind it, V8 takes a microsecond for each.
  const entry = { seq: last + 1, at, after: undefined, ...grant };
  return { ...entry, after: granted(plan, subscription, entry) };
}

/** The entry that an import makes: what it comes to depends on the grants before it, and on no former import. */
export function appendImport(ledger: Ledger, event: Import, at: Moment): Entry {
  const entry = { seq: headOf(ledger).seq + 1, at, after: undefined, ...event };
  return { ...entry, after: restated(ledger.plan, entry, ledger.entries, reversalTimes(ledger.entries)) };
}

type Uncounted<Kind extends Event = Event> = Kind & Pick<Entry, "seq" | "at">;

/** The subscription after each entry, as though what is reversed had never been. */
export function recount(plan: string, entries: readonly Uncounted[]): (Subscription | undefined)[] {
  const reversedAt = reversalTimes(entries);
  let now: Subscription | undefined;
  return entries.map((entry, index) => {
    if (entry.kind === "import") now = restated(plan, entry, entries.slice(0, index), reversedAt);
    else if (entry.kind !== "reversal" && !reversedAt.has(entry.seq)) now = granted(plan, now, entry);
    return now;
  });
}

/** When each entry was taken back, by its number. */
function reversalTimes(entries: readonly Uncounted[]): ReadonlyMap<number, Instant> {
  const times = new Map<number, Instant>();
  for (const entry of entries) if (entry.kind === "reversal") times.set(entry.of, entry.at.instant);
  return times;
}

/** Paid before the end, it is added to it; paid at the end or later, it begins a new run. */
function granted(plan: string, before: Subscription | undefined, grant: Uncounted<Grant>): Subscription {
  const { at, seq, bouquet, period } = grant;
  if (!isRunning(before, at.wall)) return lengthened(newRun(plan, bouquet, at.wall, seq), period);
  // Goodwill is not bought: the subscription keeps showing what was bought last.
  return lengthened(grant.kind === "top_up" ? { ...before, bouquet } : before, period);
}

/**
 * What the records state, less the top-ups that they hold and that were reversed since, plus what they cannot know: the
 * top-ups after them, and goodwill.
 */
function restated(
  plan: string,
  { since, asOf, stated }: Uncounted<Import>,
  earlier: readonly Uncounted[],
  reversedAt: ReadonlyMap<number, Instant>,
): Subscription | undefined {
  let now = stated && importedSubscription(stated, since);
  const grants = earlier.filter((entry) => isGrant(entry)).filter(({ seq }) => seq >= since);
  for (const { kind, seq, at, period } of grants) {
    const isHeld = kind === "top_up" && at.instant <= asOf.instant;
    if (now !== undefined && isHeld && (reversedAt.get(seq) ?? 0) > asOf.instant) now = shortened(now, period);
  }
  for (const grant of grants) {
    const isNews = grant.kind === "goodwill" || grant.at.instant > asOf.instant;
    if (!isNews || reversedAt.has(grant.seq)) continue;
    const longer = granted(plan, now, grant);
    // Records may state a subscription for ever: nothing can be added to that.
    if (longer.end <= LAST_WALL_TIME) now = longer;
  }
  return now;
}

export function isGrant<Kind extends { readonly kind: Event["kind"] }>(
  entry: Kind,
): entry is Extract<Kind, { kind: "top_up" | "goodwill" }> {
  return entry.kind === "top_up" || entry.kind === "goodwill";
}

/** The top-ups and goodwill of the run that is on, without those that are reversed. */
export function grantsOfRun({ entries }: Ledger, since: number): Extract<Entry, Grant>[] {
  const reversed = new Set(entries.flatMap((entry) => (entry.kind === "reversal" ? [entry.of] : [])));
  return entries.filter((entry) => isGrant(entry)).filter(({ seq }) => seq >= since && !reversed.has(seq));
}

export type ReversalRefusal = "not_found" | "already_reversed" | "history_gone";

/** Takes back a top-up or goodwill. What is left keeps its own time, so nobody pays for a gap that it had bridged. */
export function decideReversal(ledger: Ledger, reversal: Reversal, at: Moment): Entry | ReversalRefusal {
  const { entries } = ledger;
  const entry = entries.find(({ seq }) => seq === reversal.of);
  if (entry === undefined || !isGrant(entry)) return "not_found";
  const reversed = reversalTimes(entries);
  if (reversed.has(reversal.of)) return "already_reversed";
  // What a pruned ledger is counted from must stay: nobody can tell what there was before it.
  const first = entries.find((each) => each.kind === "import" || (isGrant(each) && !reversed.has(each.seq)));
  if ((entries[0]?.seq ?? 1) > 1 && first?.seq === reversal.of) return "history_gone";
  const uncounted = { ...reversal, seq: headOf(ledger).seq + 1, at };
  return { ...uncounted, after: recount(ledger.plan, [...entries, uncounted]).at(-1) };
}

/**
 * The entries that stay when history from before the horizon goes: younger ones, or else the last, the run that was on at
 * the horizon, and whatever one of these is counted from (section 5). What may follow comes to the same with them alone.
 */
export function keptEntries(entries: readonly Entry[], horizon: Moment): readonly Entry[] {
  const young = entries.findIndex(({ at }) => at.instant >= horizon.instant);
  const last = (young === -1 ? entries.length : young) - 1;
  // A file as of a moment after the horizon may be laid over the run that was on then.
  let first = Math.max(0, young === -1 || isRunning(entries[last]?.after, horizon.wall) ? last : young);
  for (let index = entries.length - 1; index >= first; index -= 1) {
    const needed = oldestNeeded(entries[index] as Entry);
    while (first > 0 && (entries[first] as Entry).seq > needed) first -= 1;
  }
  return entries.slice(first);
}

/** The first entry of its run; what a reversal takes back; all that an import was laid over, also since its moment. */
function oldestNeeded(entry: Entry): number {
  const run = entry.after?.since ?? entry.seq;
  if (entry.kind === "reversal") return Math.min(run, entry.of);
  return entry.kind === "import" ? Math.min(run, entry.since) : run;
}

/**
 * What is wrong with a ledger; undefined where every entry follows from those before it. What was before the first entry
 * of a pruned ledger, nobody can tell, so it is taken as it is. Source: the ledger's page, section 6.
 */
export function findFault({ plan, entries }: Ledger): string | undefined {
  for (const [index, entry] of entries.entries()) {
    const before = { plan, entries: entries.slice(0, index) };
    const problem = entry.seq > 1 && index === 0 ? endProblem(entry.after) : problemOf(before, entry);
    if (problem !== undefined) return `entry ${entry.seq} ${problem}`;
  }
  return undefined;
}

function problemOf(before: Ledger, entry: Entry): string | undefined {
  if (entry.seq !== headOf(before).seq + 1) return `stands after entry ${headOf(before).seq}`;
  if (entry.kind === "reversal") {
    const isOfGrant = before.entries.some((each) => each.seq === entry.of && isGrant(each));
    const isSecond = before.entries.some((each) => each.kind === "reversal" && each.of === entry.of);
    if (!isOfGrant || isSecond) return "reverses what cannot be reversed";
  }
  if (!isDeepStrictEqual(entry.after, stateAfter(before, entry))) return "does not follow from those before it";
  return endProblem(entry.after);
}

function stateAfter(before: Ledger, entry: Entry): Subscription | undefined {
  if (isGrant(entry)) return appendGrant(headOf(before), entry, entry.at).after;
  if (entry.kind === "import") return appendImport(before, entry, entry.at).after;
  return recount(before.plan, [...before.entries, entry]).at(-1);
}

function endProblem(after: Subscription | undefined): string | undefined {
  const isCounted = after === undefined || after.end === plus(after.anchor, after);
  return isCounted ? undefined : "has an end that is not its anchor, months and days";
}
