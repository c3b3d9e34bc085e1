import type { Calendar, Instant } from "./calendar.ts";
import { isSameSubscription, type Subscription } from "./subscription.ts";
import { readWallClock } from "./wall-clock.ts";

/*
 * What was written or counted by a topupd that had other rules of the same zone: in files of another database, of which
 * nobody here knows by what rules it was used, and by a process whose Node.js was another than its neighbours'. The
 * wall clock of the one is then as far from that of the other as two offsets of the zone are from each other.
 */

/** Whether a file may have written an instant so: with an offset that the zone has had, if not then. */
export function mayBeWritten(text: string, instant: Instant, calendar: Calendar): boolean {
  if (text === calendar.format(instant)) return true;
  const wallClock = readWallClock(text);
  return wallClock !== undefined && calendar.offsets().has(wallClock - Math.floor(instant / 1000) * 1000);
}

/** Whether the same time of a wall clock may have been counted as the one and as the other. */
export function areOffsetsApart(a: Instant, b: Instant, calendar: Calendar): boolean {
  if (a === b) return true;
  const offsets = [...calendar.offsets()];
  return offsets.some((one) => offsets.some((other) => one - other === a - b));
}

/**
 * Whether a subscription is the other one but for how its ends were counted. Never where the database has known the
 * same rules all along: an hour is a fault there.
 */
export function isCountedByOtherRules(
  stored: Subscription | undefined,
  counted: Subscription | undefined,
  calendar: Calendar,
): boolean {
  if (stored === undefined || counted === undefined || calendar.record.length === 0) return false;
  const { end, grantedEnd } = counted;
  const isGranted = grantedEnd !== undefined && stored.grantedEnd !== undefined;
  return (
    isSameSubscription({ ...stored, end, grantedEnd: isGranted ? grantedEnd : stored.grantedEnd }, counted) &&
    areOffsetsApart(stored.end, end, calendar) &&
    (!isGranted || areOffsetsApart(stored.grantedEnd, grantedEnd, calendar))
  );
}
