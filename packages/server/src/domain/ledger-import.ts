import {
  appendImport,
  type Entry,
  GOODWILL_READINGS,
  type GoodwillReading,
  grantsOfRun,
  headAsOf,
  headOf,
  type Ledger,
} from "./ledger.ts";
import { isRunning, isSameSubscription, type StatedSubscription, type Subscription } from "./subscription.ts";
import { DAY_MS, type Instant, type Moment, readWallTime, type WallTime, wallMsBetween } from "./wall-time.ts";
import type { Zone } from "./zone.ts";

/** Why a moment up to which records are said to hold what was made here is not taken: the words go on from its name. */
export const AS_OF_PROBLEMS = {
  required:
    "is needed, since customers were topped up here: say up to when the file's records hold that, such as the complete_until of the export that billing took in",
  unreadable:
    "must be an instant such as 2026-11-23T02:00:00Z, or a time of the provider's zone such as 2026-11-23 02:00:00",
  never: "is a time that the clocks of the provider's zone skip",
  twice: "is a time that the clocks of the provider's zone show twice: give it in UTC, such as 2026-11-23T02:00:00Z",
  too_young: "must be a minute ago or longer: top-ups of that time may not be on record yet",
  too_old: "is more than 35 days ago: use younger records, or say that old ones are meant",
  pruned: "is from before the day up to which history was let go",
} as const;

export type AsOfProblem = keyof typeof AS_OF_PROBLEMS;

export interface AsOfRules {
  readonly zone: Zone;
  readonly now: Instant;
  /** Whether records of more than 35 days ago are meant. */
  readonly allowsOld: boolean;
  /** From when on history is whole; undefined where nothing was let go. */
  readonly prunedBefore: Instant | undefined;
}

const UTC = /^([0-9-]{10})T([0-9:]{8})(?:\.([0-9]{3}))?Z$/;

/**
 * Reads how far records reach: an instant in ISO 8601, in UTC, or a time of the provider's wall clock.
 * Source: the ledger's page, section 3.
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
  const ms = readWallTime(day === undefined ? text : `${day} ${time}`);
  if (ms === undefined) return "unreadable";
  if (day !== undefined) return ms + Number(fraction);
  const [instant, another] = zone.instants(text);
  if (instant === undefined) return "never";
  return another === undefined ? instant : "twice";
}

/** Records that are younger cannot know which top-ups they hold: a top-up is recorded at most 30 seconds after its decision. */
export const SETTLED_AFTER_MS = 60_000;

/** Records that are older are a mistake, unless somebody says that they are meant. */
export const OLDEST_RECORDS_MS = 35 * DAY_MS;

/** How the provider's records are taken. Source: the ledger's page, section 3. */
export interface ImportRules {
  /** Up to when the records hold every top-up and reversal made here. */
  readonly asOf: Moment;
  readonly now: Moment;
  /** How the records treat goodwill; undefined where nobody said it. */
  readonly goodwill: GoodwillReading | undefined;
  /** A run that they end by less than so many days earlier keeps its end: 1, for records without seconds, or more. */
  readonly toleranceDays: number;
  /** Whether they may end a run that was paid for. */
  readonly allowsShorter: boolean;
}

export type ImportDecision =
  | { readonly kind: "unchanged" }
  | { readonly kind: "changed"; readonly entry: Entry }
  /**
   * The subscription stays as it is: the records would end what was topped up or granted here, or `goodwill` must be said.
   */
  | {
      readonly kind: "held_back";
      readonly bouquetCode: string;
      /** Undefined only with `goodwill`, if there is no subscription now. */
      readonly keptEnd: WallTime | undefined;
      /**
       * Where the records would end it, with later top-ups; undefined if they have no such subscription. With `goodwill`,
       * where records that hold it would.
       */
      readonly statedEnd: WallTime | undefined;
      /** Of the newest top-up of the run; undefined where goodwill alone holds it. */
      readonly txnId: string | undefined;
      /** Of the run, if they alone make the difference although the records are said to hold goodwill. */
      readonly goodwillDays: number | undefined;
      /** Given here, if nobody said whether the records hold it, and the end depends on that. */
      readonly goodwill: GoodwillGiven | undefined;
    };

export interface GoodwillGiven {
  readonly days: number;
  /** When it was given; the last time if it was given several times. */
  readonly at: WallTime;
  /** Where records that lack it would end the subscription; undefined if nothing would be left. */
  readonly lackingEnd: WallTime | undefined;
}

const UNCHANGED: ImportDecision = { kind: "unchanged" };

/** Lays what the records state of one plan over its ledger. Where nothing changes, there is no entry. */
export function decideImport(
  ledger: Ledger,
  stated: StatedSubscription | undefined,
  { asOf, now, goodwill, toleranceDays, allowsShorter }: ImportRules,
): ImportDecision {
  // Records that state what was here at their moment change nothing, whatever was made here since.
  if (goodwill !== "lacking" && isSameSubscription(headAsOf(ledger, asOf.instant).subscription, stated))
    return UNCHANGED;
  const before = headOf(ledger).subscription;
  const since = runAt(ledger, asOf);
  const known = { ...ledger, entries: ledger.entries.filter(({ at }) => at.instant <= asOf.instant) };
  // Only this goodwill can make a difference between the readings.
  const given = grantsOfRun(known, since).filter(({ kind }) => kind === "goodwill");
  const readings = goodwill === undefined && given.length > 0 ? GOODWILL_READINGS : [goodwill ?? "lacking"];
  const read = readings.map((each) =>
    appendImport(ledger, { kind: "import", asOf, stated, since, goodwill: each }, now),
  );
  const entry = rightReading(read, before);
  const bouquetCode = (before?.bouquet ?? stated?.bouquet)?.code ?? "";
  if (entry === undefined) {
    const days = given.reduce((sum, { period }) => sum + period.days, 0);
    const [lackingEnd, statedEnd] = read.map(({ after }) => after?.end);
    const unclear = { days, at: given.at(-1)?.at.wall ?? "", lackingEnd };
    const ends = { keptEnd: before?.end, statedEnd };
    return { kind: "held_back", bouquetCode, ...ends, txnId: undefined, goodwillDays: undefined, goodwill: unclear };
  }
  const { after } = entry;
  if (isSameSubscription(before, after)) return UNCHANGED;
  const lostMs = before === undefined ? 0 : wallMsBetween(after?.end ?? now.wall, before.end);
  if (allowsShorter || lostMs <= 0 || !isRunning(before, now.wall)) return { kind: "changed", entry };
  const grants = grantsOfRun(ledger, before.since);
  if (grants.length === 0) return { kind: "changed", entry };
  if (after !== undefined && lostMs < toleranceDays * DAY_MS) return UNCHANGED;
  const isGoodwill =
    goodwill === "held" &&
    after !== undefined &&
    before.goodwillDays > 0 &&
    lostMs < (before.goodwillDays + toleranceDays) * DAY_MS;
  const goodwillDays = isGoodwill ? before.goodwillDays : undefined;
  const txnId = isGoodwill ? undefined : grants.findLast((grant) => grant.kind === "top_up")?.txnId;
  const ends = { keptEnd: before.end, statedEnd: stated && after?.end };
  return { kind: "held_back", bouquetCode, ...ends, txnId, goodwillDays, goodwill: undefined };
}

/** Records that leave the end where it is, to the day, are read so; others only if all readings come to the same end. */
function rightReading(read: readonly Entry[], before: Subscription | undefined): Entry | undefined {
  const isNear = ({ after }: Entry) =>
    before !== undefined && after !== undefined && Math.abs(wallMsBetween(before.end, after.end)) < DAY_MS;
  const same = read.find(({ after }) => after?.end === before?.end) ?? read.find(isNear);
  if (same !== undefined) return same;
  return read.every(({ after }) => after?.end === read[0]?.after?.end) ? read[0] : undefined;
}

/** The trial environment's reset: the subscription is as stated, whatever was granted, and begins a new run. */
export function resetLedger(ledger: Ledger, stated: StatedSubscription | undefined, now: Moment): ImportDecision {
  const { subscription, seq } = headOf(ledger);
  if (subscription === undefined && stated === undefined) return UNCHANGED;
  const reset = { kind: "import", asOf: now, stated, since: seq + 1, goodwill: "held" } as const;
  return { kind: "changed", entry: appendImport(ledger, reset, now) };
}

/** The number of the entry with which the run began that was on at a moment; of the next entry where none was. */
function runAt({ entries }: Ledger, { instant, wall }: Moment): number {
  const last = entries.findLast(({ at }) => at.instant <= instant);
  return isRunning(last?.after, wall) ? last.after.since : (last?.seq ?? 0) + 1;
}
