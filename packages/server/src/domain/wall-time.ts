/** A point in time, in whole milliseconds since 1970-01-01 UTC. */
export type Instant = number;

/**
 * A time on the provider's wall clock, `YYYY-MM-DD HH:MM:SS` (docs/interface.md, "Answers"). It sorts as text. Periods
 * are added by calendar arithmetic, without a zone.
 */
export type WallTime = string;

/** How much time one purchase of a bouquet adds. Months are added before days (docs/ledger.md#how-time-is-added). */
export interface Period {
  readonly months: number;
  readonly days: number;
}

/** The same point in time as instant and as wall time. */
export interface Moment {
  readonly instant: Instant;
  readonly wall: WallTime;
}

/** An instant in ISO 8601, UTC, for operators and their programs; partners get wall times. */
export function isoTime(instant: Instant): string {
  return new Date(instant).toISOString();
}

export function isoTimeOrNull(instant: Instant | undefined): string | null {
  return instant === undefined ? null : isoTime(instant);
}

export const DAY_MS = 24 * 60 * 60 * 1000;

/** The last time that the wire format can represent. */
export const LAST_WALL_TIME: WallTime = "9999-12-31 23:59:59";

/** Result of a sum beyond the year 9999. It sorts after every wall time. */
const BEYOND_ALL: WallTime = "~";

const FORM = /^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-5][0-9]$/;
const ZERO = 0x30;
const TWO_DIGITS = Array.from({ length: 100 }, (_, number) => String(number).padStart(2, "0"));
const DAYS_OF_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const FIRST_BEYOND_MS = Date.UTC(10_000, 0, 1);

/** Whether a text is a wall time of an existing day. */
export function isWallTime(text: string): boolean {
  return readWallTime(text) !== undefined;
}

/**
 * Adds months first, limited to the month's last day, then days; the time of day stays. The result may be after {@link
 * LAST_WALL_TIME}.
 */
export function plus(from: WallTime, { months, days }: Period): WallTime {
  const ms = readWallTime(from);
  if (ms === undefined) return BEYOND_ALL;
  const day = Math.floor(ms / DAY_MS);
  const date = civilDate(day);
  const monthsAfter = date.month + months;
  const year = date.year + Math.floor(monthsAfter / 12);
  const month = ((monthsAfter % 12) + 12) % 12;
  const clamped = Math.min(date.day, daysInMonth(year, month));
  return writeWallTime((dayNumber(year, month, clamped) + days) * DAY_MS + (ms - day * DAY_MS));
}

/** Milliseconds from `a` to `b` on a clock that never changes. */
export function wallMsBetween(a: WallTime, b: WallTime): number {
  return (readWallTime(b) ?? FIRST_BEYOND_MS) - (readWallTime(a) ?? FIRST_BEYOND_MS);
}

export function secondBefore(wall: WallTime): WallTime {
  return writeWallTime((readWallTime(wall) ?? FIRST_BEYOND_MS) - 1000);
}

/** The next calendar day: `2026-11-20` is followed by `2026-11-21`. */
export function dayAfter(day: string): string {
  return plus(`${day} 00:00:00`, { months: 0, days: 1 }).slice(0, 10);
}

/** Milliseconds since 1970 of the wall clock; undefined if the text has another form or the time does not exist. */
export function readWallTime(text: WallTime): number | undefined {
  if (!FORM.test(text)) return undefined;
  const year = digits(text, 0) * 100 + digits(text, 2);
  const [month, day] = [digits(text, 5) - 1, digits(text, 8)];
  const [hour, minute] = [digits(text, 11), digits(text, 14)];
  if (month < 0 || month > 11 || day < 1 || day > daysInMonth(year, month) || hour > 23 || minute > 59)
    return undefined;
  return dayNumber(year, month, day) * DAY_MS + ((hour * 60 + minute) * 60 + digits(text, 17)) * 1000;
}

/** Drops fractions of a second. A time outside the years 0 to 9999 sorts after everything. */
export function writeWallTime(ms: number): WallTime {
  if (ms >= FIRST_BEYOND_MS) return BEYOND_ALL;
  const days = Math.floor(ms / DAY_MS);
  const { year, month, day } = civilDate(days);
  if (year < 0) return BEYOND_ALL;
  const date = `${TWO_DIGITS[Math.floor(year / 100)]}${TWO_DIGITS[year % 100]}-${TWO_DIGITS[month + 1]}-${TWO_DIGITS[day]}`;
  const seconds = Math.floor((ms - days * DAY_MS) / 1000);
  const [hour, minute] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return `${date} ${TWO_DIGITS[hour]}:${TWO_DIGITS[minute]}:${TWO_DIGITS[seconds % 60]}`;
}

/** The two digits at a position. */
function digits(text: string, at: number): number {
  return (text.charCodeAt(at) - ZERO) * 10 + text.charCodeAt(at + 1) - ZERO;
}

/*
 * The Gregorian calendar in plain integers: imports calculate a million dates, and Date objects are several times
 * slower. Years begin in March, so that the leap day is the last day.
 */

/** Days in 400 years. Then the calendar repeats. */
const DAYS_IN_ERA = 146_097;
/** Days from 1 March of the year 0 to 1 January 1970. */
const DAYS_TO_1970 = 719_468;

/** Days since 1970-01-01. @param month from 0, January. */
function dayNumber(year: number, month: number, day: number): number {
  const yearFromMarch = month < 2 ? year - 1 : year;
  const era = Math.floor(yearFromMarch / 400);
  const yearOfEra = yearFromMarch - era * 400;
  const dayOfYear = Math.floor((153 * ((month + 10) % 12) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * DAYS_IN_ERA + dayOfEra - DAYS_TO_1970;
}

function civilDate(days: number): { readonly year: number; readonly month: number; readonly day: number } {
  const fromMarch = days + DAYS_TO_1970;
  const era = Math.floor(fromMarch / DAYS_IN_ERA);
  const dayOfEra = fromMarch - era * DAYS_IN_ERA;
  const leapDays =
    Math.floor(dayOfEra / 1460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / (DAYS_IN_ERA - 1));
  const yearOfEra = Math.floor((dayOfEra - leapDays) / 365);
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const month = (monthFromMarch + 2) % 12;
  const year = yearOfEra + era * 400 + (month < 2 ? 1 : 0);
  return { year, month, day: dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1 };
}

function daysInMonth(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 1 && isLeap ? 29 : (DAYS_OF_MONTH[month] as number);
}
