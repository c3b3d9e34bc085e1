import { civilDate, dayNumber, daysInMonth } from "./civil-date.ts";
import { DAY_MS } from "./zone-offsets.ts";

/*
 * Times of a wall clock, as milliseconds since its own 1970: what a calendar does between the one change of its clocks
 * and the next, whatever its zone.
 */

/** The form of a time of the wire and of providers' files. */
export const TIMESTAMP = /^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-5][0-9]$/;
const ZERO = 0x30;

/** From 1970-01-08 to the end of the year 9998: where neither a day's distance nor the year's digits can matter. */
const PLAIN_FROM = 7 * DAY_MS;
const PLAIN_UNTIL = Date.UTC(9999, 0, 1);

export function isPlain(ms: number): boolean {
  return ms >= PLAIN_FROM && ms < PLAIN_UNTIL;
}

const TWO_DIGITS = Array.from({ length: 100 }, (_, number) => String(number).padStart(2, "0"));

export function writeWallClock(wallClock: number): string {
  const days = Math.floor(wallClock / DAY_MS);
  const { year, month, day } = civilDate(days);
  const date = `${TWO_DIGITS[Math.floor(year / 100)]}${TWO_DIGITS[year % 100]}-${TWO_DIGITS[month + 1]}-${TWO_DIGITS[day]}`;
  const seconds = Math.floor((wallClock - days * DAY_MS) / 1000);
  const [hour, minute] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return `${date} ${TWO_DIGITS[hour]}:${TWO_DIGITS[minute]}:${TWO_DIGITS[seconds % 60]}`;
}

/** Months first, clamped to the month's end, then days. */
export function addToWallClock(wallClock: number, months: number, days: number): number {
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
export function wholeMonthsAndDays(from: number, to: number): { readonly months: number; readonly days: number } {
  const first = midnight(from);
  const last = midnight(to - (from % DAY_MS));
  const [a, b] = [civilDate(first / DAY_MS), civilDate(last / DAY_MS)];
  const apart = (b.year - a.year) * 12 + b.month - a.month;
  const months = b.day < a.day ? apart - 1 : apart;
  return { months, days: (last - addToWallClock(first, months, 0)) / DAY_MS };
}

/** Reads `YYYY-MM-DD HH:MM:SS`; undefined for any other form, and where there is no such day or time of the day. */
export function readWallClock(text: string): number | undefined {
  if (!TIMESTAMP.test(text)) return undefined;
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
