import { DAY_MS, type Instant } from "./calendar.ts";
import { SHORTEST_RETENTION_DAYS } from "./pruning.ts";

/*
 * Whether a clock is to be believed before something is done by it that never comes back. Nothing on this machine
 * knows better, so it is held against what was recorded last: in a service that is used, that is not long ago.
 */

/**
 * Less than the shortest age of what is let go. So a clock that is believed may be as wrong as it likes: the horizon
 * that is counted back from it stays before the newest record.
 */
const MOST_AHEAD_MS = (SHORTEST_RETENTION_DAYS - 1) * DAY_MS;
/** What other processes record meanwhile is newer than the command, and clocks of several machines differ a little. */
const MOST_BEHIND_MS = 5 * 60_000;

export interface ClockDoubt {
  readonly kind: "ahead" | "behind" | "nothing_on_record";
  readonly now: Instant;
  /** When something was recorded last. */
  readonly newest: Instant | undefined;
}

/** @returns undefined where nothing speaks against the clock. */
export function doubtClock(now: Instant, newest: Instant | undefined): ClockDoubt | undefined {
  if (newest === undefined) return { kind: "nothing_on_record", now, newest };
  if (now - newest > MOST_AHEAD_MS) return { kind: "ahead", now, newest };
  if (newest - now > MOST_BEHIND_MS) return { kind: "behind", now, newest };
  return undefined;
}
