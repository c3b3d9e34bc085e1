import { Temporal } from "temporal-polyfill";

/** A point in time, in whole milliseconds since 1970-01-01 UTC. */
export type Instant = number;

/** A day without regard to the clocks being changed. */
export const DAY_MS = 24 * 60 * 60 * 1000;

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

/** @param timeZone an IANA name for which {@link isTimeZone} holds. */
export function createCalendar(timeZone: string): Calendar {
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

/** The wire and the providers' files know no fractions of a second. */
export function isSameSecond(a: Instant, b: Instant): boolean {
  return Math.floor(a / 1000) === Math.floor(b / 1000);
}
