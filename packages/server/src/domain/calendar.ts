import { Temporal } from "temporal-polyfill";
import { addToWallClock, isPlain, readWallClock, TIMESTAMP, wholeMonthsAndDays, writeWallClock } from "./wall-clock.ts";
import { DAY_MS, ZoneOffsets } from "./zone-offsets.ts";
import { offsetsOf, type RulesOnRecord, zoneRulesOf } from "./zone-rules.ts";

export { DAY_MS };

/** A point in time, in whole milliseconds since 1970-01-01 UTC. */
export type Instant = number;

/**
 * A stretch of calendar time. Months are added first and clamped to the month's end, then days,
 * both on the provider's wall clock; seconds, which only imported subscriptions have, come last.
 */
export interface Span {
  readonly months: number;
  readonly days: number;
  readonly seconds: number;
}

export const NO_SPAN: Span = { months: 0, days: 0, seconds: 0 };

export function addSpans(a: Span, b: Span): Span {
  return { months: a.months + b.months, days: a.days + b.days, seconds: a.seconds + b.seconds };
}

/** A calendar by the rules that a zone has at one time. */
interface ZoneCalendar {
  readonly timeZone: string;
  /** The last instant that the wire's form can tell: the end of the year 9999. */
  readonly last: Instant;
  /** `start` plus the whole span, counted from `start` itself and never from a clamped date. */
  add(start: Instant, span: Span): Instant;
  /** The span that leads from `start` to `end`, so that `add(start, between(start, end))` is `end`. */
  between(start: Instant, end: Instant): Span;
  /**
   * `YYYY-MM-DD HH:MM:SS` on the provider's wall clock (interface, section 2). What is later than
   * {@link last} is written as that.
   */
  format(instant: Instant): string;
  /**
   * Reads what {@link format} writes; undefined for any other form or a day that does not exist. A time
   * that clocks skip is read as the same stretch later, one that they repeat as the first of the two.
   */
  parse(text: string): Instant | undefined;
}

/**
 * The provider's calendar: one declared zone in which periods are counted and timestamps written. Governments change the
 * rules of zones: changing-calendar.ts says what comes of that.
 */
export interface Calendar extends ZoneCalendar {
  /** The rules that a database has known, oldest first; empty where they have never changed. */
  readonly record: readonly RulesOnRecord[];
  /** As it was at a time: what was granted then was counted by the rules of then. */
  asOf(at: Instant): Calendar;
  /** What a time that is written as this one is today may have meant by the rules of before; first of all itself. */
  readings(instant: Instant): readonly Instant[];
  /** The same by the rules that were known at a time. There are two where clocks skip the one of two times that are read as this one. */
  readingsAt(instant: Instant, at: Instant): readonly Instant[];
  /** Where what is written as `start` is today may have ended after a span, as it was said, and as it was counted since. */
  endings(start: Instant, span: Span): readonly Instant[];
  /** In milliseconds, all that the wall clock has been ahead of UTC since the year 2000. */
  offsets(): ReadonlySet<number>;
}

const LAST_TIMESTAMP = "9999-12-31 23:59:59";

/**
 * The rules of calendar and zone are Temporal's. Away from the days on which clocks are changed, and within
 * the years in which providers live, the same is done here by plain arithmetic, which is many times faster.
 * @param timeZone an IANA name for which {@link isTimeZone} holds.
 */
export function createCalendar(timeZone: string): Calendar {
  const offsets = new ZoneOffsets(timeZone);
  const exact = createExactCalendar(timeZone);

  /** A time of the wall clock, as milliseconds since its own 1970; undefined where that takes a closer look. */
  const toWallClock = (instant: Instant): number | undefined => {
    const offset = isPlain(instant) ? offsets.steadyAround(instant) : undefined;
    return offset === undefined ? undefined : instant + offset;
  };
  const fromWallClock = (wallClock: number): Instant | undefined => {
    if (!isPlain(wallClock)) return undefined;
    const offset = offsets.steadyAround(wallClock);
    // A day around is more than any zone is from UTC, so the offset holds at the instant meant as well.
    return offset === undefined ? undefined : wallClock - offset;
  };
  const add = (start: Instant, { months, days, seconds }: Span): Instant => {
    const wallClock = toWallClock(start);
    const end = wallClock === undefined ? undefined : fromWallClock(addToWallClock(wallClock, months, days));
    return end === undefined ? exact.add(start, { months, days, seconds }) : end + seconds * 1000;
  };

  const calendar: Calendar = {
    timeZone,
    last: exact.last,
    record: [],
    asOf: () => calendar,
    readings: (instant) => [instant],
    readingsAt: (instant) => [instant],
    endings: (start, span) => [add(start, span)],
    offsets: () => offsetsOf(zoneRulesOf(timeZone)),
    add,
    between(start, end) {
      const [from, to] = [toWallClock(start), toWallClock(end)];
      if (from === undefined || to === undefined || to < from) return exact.between(start, end);
      const { months, days } = wholeMonthsAndDays(from, to);
      const reached = add(start, { months, days, seconds: 0 });
      // Where clocks were changed in between, a day of 25 hours may still be a day.
      if (reached > end || fromWallClock(addToWallClock(from, months, days)) === undefined)
        return exact.between(start, end);
      return { months, days, seconds: (end - reached) / 1000 };
    },
    format(instant) {
      if (!isPlain(instant)) return exact.format(instant);
      return writeWallClock(instant + offsets.at(instant));
    },
    parse(text) {
      const wallClock = readWallClock(text);
      return wallClock === undefined ? undefined : (fromWallClock(wallClock) ?? exact.parse(text));
    },
  };
  return calendar;
}

/** The same by Temporal alone: for the days on which clocks are changed, and far-off years. */
export function createExactCalendar(timeZone: string): ZoneCalendar {
  const zoned = (instant: Instant) => Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(timeZone);
  const read = (text: string) =>
    Temporal.PlainDateTime.from(text.replace(" ", "T")).toZonedDateTime(timeZone).epochMilliseconds;
  return {
    timeZone,
    last: read(LAST_TIMESTAMP),
    add(start, { months, days, seconds }) {
      return zoned(start).add({ months, days }).epochMilliseconds + seconds * 1000;
    },
    between(start, end) {
      const from = zoned(start);
      const { months, days } = from.until(zoned(end), { largestUnit: "month" });
      return { months, days, seconds: (end - from.add({ months, days }).epochMilliseconds) / 1000 };
    },
    format(instant) {
      const text = zoned(instant).toPlainDateTime().toString({ fractionalSecondDigits: 0, roundingMode: "floor" });
      return text.length === LAST_TIMESTAMP.length ? text.replace("T", " ") : LAST_TIMESTAMP;
    },
    parse(text) {
      if (!TIMESTAMP.test(text)) return undefined;
      try {
        return read(text);
      } catch (error) {
        if (error instanceof RangeError) return undefined;
        throw error;
      }
    },
  };
}

export function isTimeZone(name: string): boolean {
  // An offset such as +05:45 is no zone: it has no rules for the day the clocks change.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name);
    return true;
  } catch {
    return false;
  }
}

const MINUTE_MS = 60_000;

/** The wire and the providers' files know no fractions of a second. */
export function isSameSecond(a: Instant, b: Instant): boolean {
  return Math.floor(a / 1000) === Math.floor(b / 1000);
}

/** Whether a file that tells `told` may mean `meant`: many a system leaves seconds out, and writes a whole minute. */
export function mayTell(told: Instant, meant: Instant): boolean {
  const isWholeMinute = told % MINUTE_MS === 0;
  return isSameSecond(told, meant) || (isWholeMinute && Math.floor(meant / MINUTE_MS) === told / MINUTE_MS);
}
