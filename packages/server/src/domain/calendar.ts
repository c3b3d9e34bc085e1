import { Temporal } from "temporal-polyfill";
import { civilDate, dayNumber, daysInMonth } from "./civil-date.ts";
import { DAY_MS, ZoneOffsets } from "./zone-offsets.ts";

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

/** The provider's calendar: one declared zone in which periods are counted and timestamps written. */
export interface Calendar {
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

const LAST_TIMESTAMP = "9999-12-31 23:59:59";
const TIMESTAMP = /^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-5][0-9]$/;
const ZERO = 0x30;

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

  return {
    timeZone,
    last: exact.last,
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
      if (!TIMESTAMP.test(text)) return undefined;
      const wallClock = readWallClock(text);
      return (wallClock === undefined ? undefined : fromWallClock(wallClock)) ?? exact.parse(text);
    },
  };
}

/** From 1970-01-08 to the end of the year 9998: where neither a day's distance nor the year's digits can matter. */
const PLAIN_FROM = 7 * DAY_MS;
const PLAIN_UNTIL = Date.UTC(9999, 0, 1);

function isPlain(ms: number): boolean {
  return ms >= PLAIN_FROM && ms < PLAIN_UNTIL;
}

const TWO_DIGITS = Array.from({ length: 100 }, (_, number) => String(number).padStart(2, "0"));

function writeWallClock(wallClock: number): string {
  const days = Math.floor(wallClock / DAY_MS);
  const { year, month, day } = civilDate(days);
  const date = `${TWO_DIGITS[Math.floor(year / 100)]}${TWO_DIGITS[year % 100]}-${TWO_DIGITS[month + 1]}-${TWO_DIGITS[day]}`;
  const seconds = Math.floor((wallClock - days * DAY_MS) / 1000);
  const [hour, minute] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return `${date} ${TWO_DIGITS[hour]}:${TWO_DIGITS[minute]}:${TWO_DIGITS[seconds % 60]}`;
}

/** Months first, clamped to the month's end, then days. */
function addToWallClock(wallClock: number, months: number, days: number): number {
  const timeOfDay = wallClock % DAY_MS;
  const { year, month, day } = civilDate((wallClock - timeOfDay) / DAY_MS);
  const monthsAfter = month + months;
  const yearAfter = year + Math.floor(monthsAfter / 12);
  const monthAfter = monthsAfter % 12;
  const clamped = Math.min(day, daysInMonth(yearAfter, monthAfter));
  return (dayNumber(yearAfter, monthAfter, clamped) + days) * DAY_MS + timeOfDay;
}

/**
 * As Temporal counts them: by whole days first, as many as the time of the day allows, and of these the whole
 * months. From the 31st to the 30th is no whole month, though adding one leads there.
 */
function wholeMonthsAndDays(from: number, to: number): { readonly months: number; readonly days: number } {
  const first = midnight(from);
  const last = midnight(to - (from % DAY_MS));
  const [a, b] = [civilDate(first / DAY_MS), civilDate(last / DAY_MS)];
  const apart = (b.year - a.year) * 12 + b.month - a.month;
  const months = b.day < a.day ? apart - 1 : apart;
  return { months, days: (last - addToWallClock(first, months, 0)) / DAY_MS };
}

/** Reads what {@link TIMESTAMP} matches; undefined where there is no such day or time of the day. */
function readWallClock(text: string): number | undefined {
  const year = digits(text, 0) * 100 + digits(text, 2);
  const month = digits(text, 5) - 1;
  const day = digits(text, 8);
  const hour = digits(text, 11);
  const minute = digits(text, 14);
  if (month < 0 || month > 11 || day < 1 || day > daysInMonth(year, month) || hour > 23 || minute > 59)
    return undefined;
  return dayNumber(year, month, day) * DAY_MS + ((hour * 60 + minute) * 60 + digits(text, 17)) * 1000;
}

/** The two digits at a place. */
function digits(text: string, at: number): number {
  return (text.charCodeAt(at) - ZERO) * 10 + text.charCodeAt(at + 1) - ZERO;
}

function midnight(wallClock: number): number {
  return wallClock - (wallClock % DAY_MS);
}

/** The same by Temporal alone: for the days on which clocks are changed, and far-off years. */
export function createExactCalendar(timeZone: string): Calendar {
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
