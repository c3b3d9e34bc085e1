import {
  appendImport,
  type Entry,
  GOODWILL_READINGS,
  type GoodwillReading,
  type Grant,
  grantsOfRun,
  headAsOf,
  headOf,
  type Ledger,
} from "./ledger.ts";
import { isRunning, isSameSubscription, type StatedSubscription, type Subscription } from "./subscription.ts";
import {
  DAY_MS,
  type Instant,
  type Moment,
  readWallTime,
  typedWallTime,
  type WallTime,
  wallMsBetween,
  type Zone,
} from "./wall-time.ts";

/** Why an `asOf` is refused, as text after the field's name. */
export const AS_OF_PROBLEMS = {
  required:
    "is required once a top-up or goodwill exists: give the time up to which billing has booked, such as the complete_until of its last export",
  unreadable:
    "must be an instant such as 2026-11-23T02:00:00Z, or a time of the provider's zone such as 2026-11-23 02:00:00",
  never: "is a time that the clocks of the provider's zone skip",
  twice: "is a time that the clocks of the provider's zone show twice: give it in UTC, such as 2026-11-23T02:00:00Z",
  too_young: "must be a minute ago or longer: top-ups of that time may not be on record yet",
  too_old: "is more than 35 days ago: use younger records, or say that old ones are meant",
  pruned: "is from before the day before which history was deleted",
} as const;

export type AsOfProblem = keyof typeof AS_OF_PROBLEMS;

export interface AsOfRules {
  readonly zone: Zone;
  readonly now: Instant;
  /** Whether records older than 35 days are intended. */
  readonly allowsOld: boolean;
  /** Time before which history was deleted; undefined if nothing was. */
  readonly prunedBefore: Instant | undefined;
}

const UTC = /^([0-9-]{10})T([0-9:]{8})(?:\.([0-9]{3}))?Z$/;

/**
 * Reads `asOf`: an instant in ISO 8601 (UTC), or a time of the provider's wall clock. Top-ups up to it must be in the
 * records (docs/ledger.md#imports).
 */
export function readAsOf(text: string, { zone, now, allowsOld, prunedBefore }: AsOfRules): Moment | AsOfProblem {
  const instant = readInstant(text, zone);
  if (typeof instant === "string") return instant;
  if (instant > now - SETTLED_AFTER_MS) return "too_young";
  if (prunedBefore !== undefined && instant < prunedBefore) return "pruned";
  if (!allowsOld && instant < now - OLDEST_RECORDS_MS) return "too_old";
  return zone.moment(instant);
}

function readInstant(text: string, zone: Zone): Instant | "unreadable" | "never" | "twice" {
  const [, day, time, fraction = "0"] = UTC.exec(text) ?? [];
  const wall = day === undefined ? typedWallTime(text) : `${day} ${time}`;
  const ms = readWallTime(wall);
  if (ms === undefined) return "unreadable";
  if (day !== undefined) return ms + Number(fraction);
  const [instant, another] = zone.instants(wall);
  if (instant === undefined) return "never";
  return another === undefined ? instant : "twice";
}

/** Least age of records. A top-up is recorded up to 30 seconds after its decision, so younger records may miss some. */
export const SETTLED_AFTER_MS = 60_000;

/** Greatest age of records, unless older ones are intended. */
export const OLDEST_RECORDS_MS = 35 * DAY_MS;

/** How to apply the provider's records (docs/ledger.md#imports). */
export interface ImportRules {
  /** Time of the records: they contain every top-up and reversal made here up to it. */
  readonly asOf: Moment;
  readonly now: Moment;
  /** Whether the records contain goodwill; undefined if unknown. */
  readonly goodwill: GoodwillReading | undefined;
  /** A run keeps its end if the records shorten it by less than this: 1, or more for records without exact times. */
  readonly toleranceDays: number;
  /** Whether the records may shorten a paid run. */
  readonly allowsShorter: boolean;
}

export type ImportDecision =
  | { readonly kind: "unchanged" }
  | { readonly kind: "changed"; readonly entry: Entry }
  /** Nothing changes: the records would shorten a paid run, or it is unclear whether they contain goodwill. */
  | {
      readonly kind: "held_back";
      readonly bouquetCode: string;
      /** Undefined if there is no subscription now; then `goodwill` is set. */
      readonly keptEnd: WallTime | undefined;
      /**
       * End by the records, with later top-ups; undefined if they have no such subscription. If `goodwill` is set, the
       * end by records that contain it.
       */
      readonly statedEnd: WallTime | undefined;
      /** Newest top-up of the run, or of those subtracted from `rowEnd`; undefined if there is only goodwill. */
      readonly txnId: string | undefined;
      /** End that the row itself states, if reversals after its `asOf` were subtracted: the records lack the top-ups. */
      readonly rowEnd: WallTime | undefined;
      /** Days of goodwill, if they alone make the difference although the records should contain them. */
      readonly goodwillDays: number | undefined;
      /** Set if the end depends on whether the records contain goodwill, and that is unknown. */
      readonly goodwill: GoodwillGiven | undefined;
    };

export interface GoodwillGiven {
  readonly days: number;
  /** Time of the last goodwill. */
  readonly at: WallTime;
  /** End by records that lack the goodwill; undefined if nothing would be left. */
  readonly lackingEnd: WallTime | undefined;
}

const UNCHANGED: ImportDecision = { kind: "unchanged" };

/** Applies the records of one plan to its ledger. There is no entry if nothing changes. */
export function decideImport(
  ledger: Ledger,
  stated: StatedSubscription | undefined,
  rules: ImportRules,
): ImportDecision {
  const { asOf, now, goodwill, allowsShorter } = rules;
  // Records that repeat the state of their own time change nothing, even if entries were added later.
  if (goodwill !== "lacking" && isSameSubscription(headAsOf(ledger, asOf.instant).subscription, stated))
    return UNCHANGED;
  const before = headOf(ledger).subscription;
  const since = runAt(ledger, asOf);
  const known = { ...ledger, entries: ledger.entries.filter(({ at }) => at.instant <= asOf.instant) };
  const included = grantsOfRun(known, since);
  // Other goodwill has no effect on the result.
  const given = included.filter(({ kind }) => kind === "goodwill");
  const readings = goodwill === undefined && given.length > 0 ? GOODWILL_READINGS : [goodwill ?? "lacking"];
  const read = readings.map((each) =>
    appendImport(ledger, { kind: "import", asOf, stated, since, goodwill: each }, now),
  );
  const entry = rightReading(read, before);
  if (entry === undefined) {
    const bouquetCode = (before?.bouquet ?? stated?.bouquet)?.code ?? "";
    return goodwillUnclear(bouquetCode, before, given, read);
  }
  if (isSameSubscription(before, entry.after)) return UNCHANGED;
  const lostMs = before === undefined ? 0 : wallMsBetween(entry.after?.end ?? now.wall, before.end);
  if (allowsShorter || lostMs <= 0 || !isRunning(before, now.wall)) return { kind: "changed", entry };
  return decideShorter({ ledger, stated, before, entry, lostMs, since, included }, rules);
}

/** The records give different ends with the readings `lacking` and `held` of goodwill, and neither is the present one. */
function goodwillUnclear(
  bouquetCode: string,
  before: Subscription | undefined,
  given: readonly GrantEntry[],
  [lacking, held]: readonly Entry[],
): ImportDecision {
  const days = given.reduce((sum, { period }) => sum + period.days, 0);
  const goodwill = { days, at: given.at(-1)?.at.wall ?? "", lackingEnd: lacking?.after?.end };
  const ends = { keptEnd: before?.end, statedEnd: held?.after?.end };
  const none = { txnId: undefined, rowEnd: undefined, goodwillDays: undefined };
  return { kind: "held_back", bouquetCode, ...ends, ...none, goodwill };
}

/** An entry that would end a running subscription earlier. */
interface ShorterRun {
  readonly ledger: Ledger;
  readonly stated: StatedSubscription | undefined;
  readonly before: Subscription;
  readonly entry: Entry;
  /** Time that the subscription would lose. */
  readonly lostMs: number;
  /** First entry of the run at the time of the records. */
  readonly since: number;
  /** Grants that the records contain. */
  readonly included: readonly GrantEntry[];
}

/** Holds the entry back if the run was paid, or if the row itself states a later end. */
function decideShorter(
  { ledger, stated, before, entry, lostMs, since, included }: ShorterRun,
  { goodwill, toleranceDays }: ImportRules,
): ImportDecision {
  const { after } = entry;
  const grants = grantsOfRun(ledger, before.since);
  // The row counts what it lacks: its end, minus later reversals, is in neither book (docs/ledger.md#held-back).
  const rowEnd = stated !== undefined && (after?.end ?? "") < stated.end ? stated.end : undefined;
  if (grants.length === 0 && rowEnd === undefined) return { kind: "changed", entry };
  if (after !== undefined && lostMs < toleranceDays * DAY_MS) return UNCHANGED;
  const bouquetCode = before.bouquet.code;
  const ends = { keptEnd: before.end, statedEnd: stated && after?.end, rowEnd };
  const held = { kind: "held_back", bouquetCode, ...ends, goodwillDays: undefined, goodwill: undefined } as const;
  if (rowEnd !== undefined) {
    const left = grantsOfRun(ledger, since).map(({ seq }) => seq);
    return { ...held, txnId: newestTopUp(included.filter(({ seq }) => !left.includes(seq))) };
  }
  const isGoodwill =
    goodwill === "held" &&
    after !== undefined &&
    before.goodwillDays > 0 &&
    lostMs < (before.goodwillDays + toleranceDays) * DAY_MS;
  if (isGoodwill) return { ...held, txnId: undefined, goodwillDays: before.goodwillDays };
  return { ...held, txnId: newestTopUp(grants) };
}

type GrantEntry = ReturnType<typeof grantsOfRun>[number];

function newestTopUp(grants: readonly Grant[]): string | undefined {
  return grants.findLast((grant) => grant.kind === "top_up")?.txnId;
}

/** The reading that keeps the end, exactly or to the day; otherwise any, if all readings give the same end. */
function rightReading(read: readonly Entry[], before: Subscription | undefined): Entry | undefined {
  const isNear = ({ after }: Entry) =>
    before !== undefined && after !== undefined && Math.abs(wallMsBetween(before.end, after.end)) < DAY_MS;
  const same = read.find(({ after }) => after?.end === before?.end) ?? read.find(isNear);
  if (same !== undefined) return same;
  return read.every(({ after }) => after?.end === read[0]?.after?.end) ? read[0] : undefined;
}

/** Resets a ledger of the trial environment: the stated subscription replaces everything and begins a new run. */
export function resetLedger(ledger: Ledger, stated: StatedSubscription | undefined, now: Moment): ImportDecision {
  const { subscription, seq } = headOf(ledger);
  if (subscription === undefined && stated === undefined) return UNCHANGED;
  const reset = { kind: "import", asOf: now, stated, since: seq + 1, goodwill: "held" } as const;
  return { kind: "changed", entry: appendImport(ledger, reset, now) };
}

/** First entry of the run at a moment; the number of the next entry if none ran. */
function runAt({ entries }: Ledger, { instant, wall }: Moment): number {
  const last = entries.findLast(({ at }) => at.instant <= instant);
  return isRunning(last?.after, wall) ? last.after.since : (last?.seq ?? 0) + 1;
}
