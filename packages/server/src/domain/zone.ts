import {
  DAY_MS,
  dayAfter,
  type Instant,
  type Moment,
  readWallTime,
  type WallTime,
  writeWallTime,
} from "./wall-time.ts";

/** Zones change their offset only at quarters of an hour. */
const STEP_MS = 15 * 60_000;
/** Size of the cache: the offsets of a hundred days. */
const MOST_OFFSETS = 10_000;

/** The provider's time zone: it gives the wall time of an instant (docs/decisions.md, "Time"). */
export interface Zone {
  /** IANA name. */
  readonly name: string;
  readonly wallTime: (at: Instant) => WallTime;
  readonly moment: (at: Instant) => Moment;
  /** The instants of a wall time, earliest first: none if clocks skip it, two if they repeat it. */
  readonly instants: (wall: WallTime) => readonly Instant[];
}

/** @param name a name accepted by {@link isTimeZone}. */
export function createZone(name: string): Zone {
  const offsetAt = offsetsOf(name);
  const wallTime = (at: Instant) => writeWallTime(at + offsetAt(at));
  return {
    name,
    wallTime,
    moment: (at) => ({ instant: at, wall: wallTime(at) }),
    instants(wall) {
      const ms = readWallTime(wall);
      if (ms === undefined) return [];
      // Only the offsets of the day before and after can apply at the time itself.
      const offsets = new Set([ms - DAY_MS, ms, ms + DAY_MS].map(offsetAt));
      return [...offsets]
        .map((offset) => ms - offset)
        .filter((at) => at + offsetAt(at) === ms)
        .sort((a, b) => a - b);
    },
  };
}

export function isTimeZone(name: string): boolean {
  // An offset such as +05:45 is no zone: it has no rules for changes of the clock.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** A day of the provider's zone. It has 23 or 25 hours if clocks change. */
export interface Day {
  readonly start: Instant;
  /** Start of the next day. */
  readonly end: Instant;
  /** Last millisecond of the day. */
  readonly last: Instant;
}

/** @param text such as `2026-11-20`. @returns undefined if there is no such day. */
export function readDay(text: string, zone: Zone): Day | undefined {
  const start = startOfDay(text, zone);
  const end = start === undefined ? undefined : startOfDay(dayAfter(text), zone);
  return start === undefined || end === undefined ? undefined : { start, end, last: end - 1 };
}

/** If clocks skip midnight, the day starts at the first time they show. */
function startOfDay(day: string, zone: Zone): Instant | undefined {
  const ms = readWallTime(`${day} 00:00:00`);
  if (ms === undefined) return undefined;
  for (let at = ms; at < ms + DAY_MS; at += STEP_MS) {
    const [first] = zone.instants(writeWallTime(at));
    if (first !== undefined) return first;
  }
  return undefined;
}

/** Milliseconds from UTC to the wall clock. Cached, because Intl takes some microseconds. */
function offsetsOf(timeZone: string): (at: Instant) => number {
  const format = new Intl.DateTimeFormat("en", {
    ...{ timeZone, calendar: "iso8601", numberingSystem: "latn", hourCycle: "h23", era: "short" },
    ...{ year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric" },
  });
  const known = new Map<number, number>();
  return (at) => {
    const step = Math.floor(at / STEP_MS);
    const found = known.get(step);
    if (found !== undefined) return found;
    const parts = Object.fromEntries(format.formatToParts(step * STEP_MS).map(({ type, value }) => [type, value]));
    const { year, month, day, hour, minute, second } = parts as Record<string, string>;
    const wall = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
    const offset = wall - step * STEP_MS;
    if (known.size >= MOST_OFFSETS) known.clear();
    known.set(step, offset);
    return offset;
  };
}
