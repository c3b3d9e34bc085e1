import { OLDEST_RECORDS_MS, SETTLED_AFTER_MS } from "./ledger-import.ts";
import { type Instant, type Moment, readWallTime } from "./wall-time.ts";
import type { Zone } from "./zone.ts";

/** Why a moment up to which records are said to hold what was made here is not taken: the words go on from its name. */
export const AS_OF_PROBLEMS = {
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
