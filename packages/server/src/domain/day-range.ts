import { type Calendar, createCalendar, DAY_MS, type Instant } from "./calendar.ts";

const UTC = createCalendar("UTC");

/** When a day of the provider's zone begins, and when the next one does; undefined where there is no such day. */
export interface Day {
  readonly start: Instant;
  readonly end: Instant;
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
