import { type Calendar, createCalendar, DAY_MS, type Instant } from "./calendar.ts";

const UTC = createCalendar("UTC");

/** When a day of the provider's zone begins, and when the next one does; undefined where there is no such day. */
export interface Day {
  readonly start: Instant;
  readonly end: Instant;
}

/** How many days there are from the first to the last, both included and both such as {@link readDay} reads. */
export function countDays(first: string, last: string): number {
  return Math.max(0, (midnightOf(last) - midnightOf(first)) / DAY_MS + 1);
}

/** All of these days. */
export function listDays(first: string, last: string): string[] {
  const start = midnightOf(first);
  return Array.from({ length: countDays(first, last) }, (_, index) =>
    UTC.format(start + index * DAY_MS).slice(0, first.length),
  );
}

function midnightOf(day: string): Instant {
  return UTC.parse(`${day} 00:00:00`) as Instant;
}

/**
 * Reads a day such as `2026-11-20`. It has 23 or 25 hours where clocks are changed on it. Its end is where the
 * next day's date begins and not 24 hours on, nor the same time of the next day: in some zones clocks skip midnight.
 */
export function readDay(text: string, calendar: Calendar): Day | undefined {
  const midnight = UTC.parse(`${text} 00:00:00`);
  const start = calendar.parse(`${text} 00:00:00`);
  if (midnight === undefined || start === undefined) return undefined;
  const end = calendar.parse(UTC.format(midnight + DAY_MS));
  return end === undefined ? undefined : { start, end };
}
