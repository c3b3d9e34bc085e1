import {
  type BouquetLabel,
  importedSubscription,
  isRunning,
  lengthened,
  lengthenedByGoodwill,
  newRun,
  type StatedSubscription,
  type Subscription,
  shortened,
} from "./subscription.ts";
import {
  DAY_MS,
  type Instant,
  LAST_WALL_TIME,
  type Moment,
  type Period,
  plus,
  type WallSpan,
  type WallTime,
  wallMsBetween,
} from "./wall-time.ts";

/*
 * The ledger of one plan on one connection. Entries are only appended, and each has the subscription after it. The
 * ledger knows no clock and no zone: the caller passes a Moment, and the rest is civil arithmetic. The rules are in
 * docs/ledger.md.
 */

export type Event = TopUp | Goodwill | Reversal | Import;

/** A partner's top-up: one period of the bouquet. */
export interface TopUp {
  readonly kind: "top_up";
  readonly txnId: string;
  readonly bouquet: BouquetLabel;
  readonly period: Period;
}

/** Free days, given by staff. */
export interface Goodwill extends Reasoned {
  readonly kind: "goodwill";
  readonly bouquet: BouquetLabel;
  readonly period: Period;
}

/** Cancels one top-up or goodwill, once and permanently. The ledger is then calculated without it. */
export interface Reversal extends Reasoned {
  readonly kind: "reversal";
  /** Number of the cancelled entry. */
  readonly of: number;
}

/**
 * Whether records contain goodwill: `held` if billing keeps the ends of topupd's events and exports, `lacking` if it
 * calculates its own ends (docs/ledger.md#imports).
 */
export const GOODWILL_READINGS = ["lacking", "held"] as const;
export type GoodwillReading = (typeof GOODWILL_READINGS)[number];

/** The provider's records. They contain every top-up and reversal made here up to `asOf`. */
export interface Import {
  readonly kind: "import";
  readonly asOf: Moment;
  /** Undefined if the records have no such subscription. */
  readonly stated: StatedSubscription | undefined;
  /** First entry of the run at `asOf`. Older entries were used up by then. */
  readonly since: number;
  readonly goodwill: GoodwillReading;
}

interface Reasoned {
  readonly author: string;
  readonly reason: string;
}

/** A recorded event, numbered from 1 in its ledger, and the subscription after it. */
export type Entry = Event & {
  readonly seq: number;
  readonly at: Moment;
  readonly after: Subscription | undefined;
};

export interface Ledger {
  readonly plan: string;
  /** Oldest first; old entries may have been deleted. */
  readonly entries: readonly Entry[];
}

/** The last state of a ledger: all that a top-up needs. */
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

/** The state without top-ups, goodwill and reversals after a moment. All imports count, also later ones. */
export function headAsOf({ plan, entries }: Ledger, asOf: Instant): LedgerHead {
  const known = entries.filter(({ kind, at }) => kind === "import" || at.instant <= asOf);
  if (known.length === entries.length) return headOf({ plan, entries });
  return { plan, seq: known.at(-1)?.seq ?? 0, subscription: recount(plan, known).at(-1) };
}

/**
 * Whether a subscription ran between two wall times, both included: by the entries of then, or as a later one states it.
 * Reversed entries never count.
 */
export function ranBetween({ plan, entries }: Ledger, [from, to]: WallSpan): boolean {
  const states = recount(plan, entries);
  const known = states[entries.findLastIndex(({ at }) => at.wall <= from)];
  if (isRunning(known, from)) return true;
  return states.some(
    (after, index) => (entries[index]?.at.wall ?? "") > from && isRunning(after, from) && after.start <= to,
  );
}

/** The entries, each with the subscription before it: undefined if there was none, and in the first of a pruned ledger. */
export function explainEntries({ entries }: Ledger) {
  const reversals = new Map(entries.flatMap((entry) => (entry.kind === "reversal" ? [[entry.of, entry.seq]] : [])));
  return entries.map((entry, index) => ({
    entry,
    before: entries[index - 1]?.after,
    /** Whether older entries of the ledger were deleted before this one. */
    isOpening: index === 0 && entry.seq > 1,
    /** The number of the entry that reverses this one. */
    reversedBy: reversals.get(entry.seq),
  }));
}

export type TopUpEntry = Extract<Entry, { kind: "top_up" }> & { readonly after: Subscription };

/** Makes the entry of a top-up or goodwill. */
export function appendGrant(head: LedgerHead, topUp: TopUp, at: Moment): TopUpEntry;
export function appendGrant(head: LedgerHead, grant: Grant, at: Moment): Entry;
export function appendGrant({ plan, seq: last, subscription }: LedgerHead, grant: Grant, at: Moment): Entry {
  const seq = last + 1;
  if (grant.kind === "goodwill")
    return { ...grant, seq, at, after: granted(plan, subscription, { ...grant, seq, at }) };
  // Fields are listed for speed: partners wait for a top-up, and V8 takes a microsecond for each object spread.
  const { kind, txnId, bouquet, period } = grant;
  const after = granted(plan, subscription, { kind, txnId, bouquet, period, seq, at });
  return { kind, txnId, bouquet, period, seq, at, after };
}

/** Makes the entry of an import. It depends on earlier top-ups, goodwill and reversals, but on no earlier import. */
export function appendImport(ledger: Ledger, event: Import, at: Moment): Entry {
  const { plan, entries } = ledger;
  const entry = { seq: headOf(ledger).seq + 1, at, after: undefined, ...event };
  const reversedAt = reversalTimes(entries);
  const states = () => recountWith(plan, entries, reversedAt);
  return { ...entry, after: restated(plan, entry, { entries, reversedAt, states }) };
}

type Uncounted<Kind extends Event = Event> = Kind & Pick<Entry, "seq" | "at">;

/** The subscription after each entry, as if reversed entries had never been made. */
export function recount(plan: string, entries: readonly Uncounted[]): (Subscription | undefined)[] {
  return recountWith(plan, entries, reversalTimes(entries));
}

function recountWith(
  plan: string,
  entries: readonly Uncounted[],
  reversedAt: ReadonlyMap<number, Instant>,
): (Subscription | undefined)[] {
  const states: (Subscription | undefined)[] = [];
  let now: Subscription | undefined;
  for (const [index, entry] of entries.entries()) {
    if (entry.kind === "import")
      now = restated(plan, entry, { entries: entries.slice(0, index), reversedAt, states: () => states });
    else if (entry.kind !== "reversal" && !reversedAt.has(entry.seq)) now = granted(plan, now, entry);
    states.push(now);
  }
  return states;
}

/** Time of the reversal of each reversed entry, by its number. */
function reversalTimes(entries: readonly Uncounted[]): ReadonlyMap<number, Instant> {
  const times = new Map<number, Instant>();
  for (const entry of entries) if (entry.kind === "reversal") times.set(entry.of, entry.at.instant);
  return times;
}

/** A period paid before the end extends the run; a period paid at the end or later begins a new run. */
function granted(plan: string, before: Subscription | undefined, grant: Uncounted<Grant>): Subscription {
  const { at, seq, bouquet, period } = grant;
  const run = isRunning(before, at.wall) ? before : newRun(plan, bouquet, at.wall, seq);
  // Goodwill keeps the bouquet: the subscription shows the bouquet bought last.
  return grant.kind === "top_up" ? lengthened(run, period, bouquet) : lengthenedByGoodwill(run, period.days);
}

/** The entries before an import. */
interface Earlier {
  readonly entries: readonly Uncounted[];
  readonly reversedAt: ReadonlyMap<number, Instant>;
  /** The subscription after each entry, as {@link recount} returns it. */
  readonly states: () => readonly (Subscription | undefined)[];
}

/**
 * The stated subscription, minus grants that the records contain but that were reversed since, plus grants that they
 * lack (docs/ledger.md#imports).
 */
function restated(plan: string, records: Uncounted<Import>, earlier: Earlier): Subscription | undefined {
  const { entries, reversedAt } = earlier;
  const grants = entries.filter((entry) => isGrant(entry)).filter(({ seq }) => seq >= records.since);
  const kept = withoutReversed(records, grants, reversedAt);
  const known = kept && withEarlierGoodwill(plan, kept, records, earlier);
  const start = known?.start ?? "";
  let now = known;
  for (const grant of grants)
    if (isNews(grant, records, start) && !reversedAt.has(grant.seq))
      now = unlessEndless(granted(plan, now, grant), now);
  return now;
}

/** Whether the records contain a grant. */
function isHeld({ kind, at }: Uncounted<Grant>, { asOf, goodwill }: Import): boolean {
  return at.instant <= asOf.instant && (kind === "top_up" || goodwill === "held");
}

/** Whether the records lack a grant. {@link goodwillBeyond} counts the goodwill that was given before their start. */
function isNews(grant: Uncounted<Grant>, records: Import, start: WallTime): boolean {
  if (isHeld(grant, records)) return false;
  return grant.at.instant > records.asOf.instant || grant.at.wall >= start;
}

/** The stated subscription without grants that were reversed after the records; undefined if nothing is left. */
function withoutReversed(
  records: Uncounted<Import>,
  grants: readonly Uncounted<Grant>[],
  reversedAt: Earlier["reversedAt"],
): Subscription | undefined {
  const { stated, since, asOf } = records;
  if (stated === undefined) return undefined;
  let now = importedSubscription(stated, since);
  for (const grant of grants.filter((each) => isHeld(each, records))) {
    const reversed = reversedAt.get(grant.seq);
    if (reversed !== undefined && reversed > asOf.instant) now = shortened(now, grant.period);
    if (reversed === undefined && grant.kind === "goodwill")
      now = { ...now, goodwillDays: now.goodwillDays + grant.period.days };
  }
  // An export must not show an end before the start.
  return now.end <= now.start ? undefined : now;
}

/** Adds the goodwill before the stated start, if the records lack it. */
function withEarlierGoodwill(
  plan: string,
  run: Subscription,
  records: Uncounted<Import>,
  earlier: Earlier,
): Subscription {
  if (records.goodwill !== "lacking") return run;
  return unlessEndless(lengthenedByGoodwill(run, goodwillBeyond(plan, run.start, records, earlier)), run);
}

/** The longer run, unless it would be endless: an endless subscription in the records cannot be extended. */
function unlessEndless<Run extends Subscription | undefined>(longer: Subscription, before: Run): Subscription | Run {
  return longer.end <= LAST_WALL_TIME ? longer : before;
}

/** Whole days that goodwill, given before the stated start, reaches beyond that start. */
function goodwillBeyond(
  plan: string,
  start: WallTime,
  { since, asOf }: Uncounted<Import>,
  { entries, reversedAt, states }: Earlier,
): number {
  const last = entries.findLastIndex(({ at }) => at.wall < start && at.instant <= asOf.instant);
  const before = entries.slice(0, last + 1).filter(({ seq }) => seq >= since);
  if (!before.some(({ kind, seq }) => kind === "goodwill" && !reversedAt.has(seq))) return 0;
  const reached = states()[last];
  if (reached === undefined) return 0;
  const paidFor = before.filter(({ kind }) => kind !== "goodwill");
  const paid = fullEndOf(recountWith(plan, paidFor, reversedAt).at(-1));
  const from = paid > start ? paid : start;
  return Math.max(0, Math.floor(wallMsBetween(from, fullEndOf(reached)) / DAY_MS));
}

/** The end with its last second, so that inclusive ends are whole days from a midnight; "" if there is none. */
function fullEndOf(run: Subscription | undefined): WallTime {
  return run === undefined ? "" : plus(run.anchor, run);
}

export function isGrant<Kind extends { readonly kind: Event["kind"] }>(
  entry: Kind,
): entry is Extract<Kind, { kind: "top_up" | "goodwill" }> {
  return entry.kind === "top_up" || entry.kind === "goodwill";
}

/** Top-ups and goodwill from entry `since` on, without reversed ones. */
export function grantsOfRun({ entries }: Ledger, since: number): Extract<Entry, Grant>[] {
  const reversed = new Set(entries.flatMap((entry) => (entry.kind === "reversal" ? [entry.of] : [])));
  return entries.filter((entry) => isGrant(entry)).filter(({ seq }) => seq >= since && !reversed.has(seq));
}

/** The newest goodwill that is not reversed. @param seq its entry; undefined: any. */
export function newestGoodwill(ledger: Ledger, seq?: number) {
  return grantsOfRun(ledger, 0).findLast((entry) => entry.kind === "goodwill" && entry.seq === (seq ?? entry.seq));
}

export type ReversalRefusal = "not_found" | "already_reversed" | "history_gone";

/**
 * Decides a reversal. Other entries keep their own time, so no customer pays for a gap that the cancelled entry had bridged.
 */
export function decideReversal(ledger: Ledger, reversal: Reversal, at: Moment): Entry | ReversalRefusal {
  const { entries } = ledger;
  const entry = entries.find(({ seq }) => seq === reversal.of);
  if (entry === undefined || !isGrant(entry)) return "not_found";
  const reversed = reversalTimes(entries);
  if (reversed.has(reversal.of)) return "already_reversed";
  // The first entry that a pruned ledger is calculated from must stay: the state before it is unknown.
  const first = entries.find((each) => each.kind === "import" || (isGrant(each) && !reversed.has(each.seq)));
  if ((entries[0]?.seq ?? 1) > 1 && first?.seq === reversal.of) return "history_gone";
  const uncounted = { ...reversal, seq: headOf(ledger).seq + 1, at };
  return { ...uncounted, after: recount(ledger.plan, [...entries, uncounted]).at(-1) };
}
