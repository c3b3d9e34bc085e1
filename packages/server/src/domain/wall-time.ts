/** A point in time, in whole milliseconds since 1970-01-01 UTC. */
export type Instant = number;

/**
 * A time on the provider's wall clock, `YYYY-MM-DD HH:MM:SS` (docs/interface.md, "Answers"). It sorts as text. Periods
 * are added by calendar arithmetic, without a zone.
 */
export type WallTime = string;

/** Two times of the provider's clock, both included. */
export type WallSpan = readonly [from: WallTime, to: WallTime];

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

/** A second earlier. A sum beyond the year 9999 stays beyond it. */
export function secondBefore(wall: WallTime): WallTime {
  const ms = readWallTime(wall);
  return ms === undefined ? BEYOND_ALL : writeWallTime(ms - 1000);
}

/** The midnight at which the day of a time begins. */
export function midnightOf(wall: WallTime): WallTime {
  return `${wall.slice(0, "YYYY-MM-DD".length)} 00:00:00`;
}

/** The next calendar day: `2026-11-20` is followed by `2026-11-21`. */
export function dayAfter(day: string): string {
  return plus(`${day} 00:00:00`, { months: 0, days: 1 }).slice(0, 10);
}

export function dayBefore(day: string): string {
  return plus(`${day} 00:00:00`, { months: 0, days: -1 }).slice(0, 10);
}

export function firstOfMonth(day: string): string {
  return `${day.slice(0, 7)}-01`;
}

export function lastOfMonth(day: string): string {
  return plus(`${firstOfMonth(day)} 00:00:00`, { months: 1, days: -1 }).slice(0, 10);
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
  const start = instantOf(`${text} 00:00:00`, zone);
  const end = start === undefined ? undefined : instantOf(`${dayAfter(text)} 00:00:00`, zone);
  // The start of a skipped day is that of the next day.
  return start === undefined || end === undefined || start === end ? undefined : { start, end, last: end - 1 };
}

/** The day of the provider in which an instant is. */
export function dayAt(at: Instant, zone: Zone): Day {
  return readDay(zone.wallTime(at).slice(0, "YYYY-MM-DD".length), zone) as Day;
}

/** A wall time as people write it: pages show no seconds, so `2026-11-20 14:45` is the start of that minute. */
export function typedWallTime(text: string): WallTime {
  return /^.{10} [0-9]{2}:[0-9]{2}$/.test(text) ? `${text}:00` : text;
}

/** Reads a typed wall time or a whole day. @returns undefined for another text. */
export function readWallSpan(text: string): WallSpan | undefined {
  const time = typedWallTime(text);
  const span = text.length > 10 ? ([time, time] as const) : ([`${text} 00:00:00`, `${text} 23:59:59`] as const);
  return isWallTime(span[0]) ? span : undefined;
}

/** First instant of a wall time. If clocks skip that time, the first instant after the gap. */
export function instantOf(wall: WallTime, zone: Zone): Instant | undefined {
  const [first] = zone.instants(wall);
  if (first !== undefined) return first;
  const ms = readWallTime(wall);
  if (ms === undefined) return undefined;
  // Clocks skip at most one day and change at a quarter of an hour.
  const begin = Math.floor((ms - DAY_MS) / STEP_MS) * STEP_MS;
  for (let at = begin; at <= ms + DAY_MS; at += STEP_MS) if (zone.wallTime(at) > wall) return at;
  return undefined;
}

/** Milliseconds from UTC to the wall clock. Cached, because Intl takes some microseconds. */
function offsetsOf(timeZone: string): (at: Instant) => number {
  // The format takes long to make, and many commands need no times.
  let format: Intl.DateTimeFormat | undefined;
  const known = new Map<number, number>();
  return (at) => {
    const step = Math.floor(at / STEP_MS);
    const found = known.get(step);
    if (found !== undefined) return found;
    format ??= formatIn(timeZone);
    const parts = Object.fromEntries(format.formatToParts(step * STEP_MS).map(({ type, value }) => [type, value]));
    const { year, month, day, hour, minute, second } = parts as Record<string, string>;
    const wall = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
    const offset = wall - step * STEP_MS;
    if (known.size >= MOST_OFFSETS) known.clear();
    known.set(step, offset);
    return offset;
  };
}

function formatIn(timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat("en", {
    timeZone,
    calendar: "iso8601",
    numberingSystem: "latn",
    hourCycle: "h23",
    era: "short",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
}
