import { type Calendar, DAY_MS, type Instant } from "./calendar.ts";
import { NO_PERIOD, type Period } from "./period.ts";
import type { Statement, Subscription } from "./subscription.ts";

/** What stands before a new word of the provider's. */
export interface FormerRun {
  /** Undefined where the new word does not bear on any. */
  readonly run: Subscription | undefined;
  /** The provider's last word, unless it was withdrawn since. */
  readonly lastWord: Statement | undefined;
}

/**
 * What of the time that was granted on top of a run is still to come where a new word of the provider's begins. As long
 * as the provider's own words follow each other, that is all of it. Where one begins after the former has ended, the
 * customer has lived on what was granted meanwhile: only what is left of the run then goes on top. Else a year that was
 * topped up and used would be given again with every month that the provider sells.
 * @param onTop all that was granted on top of the run.
 * @param start of the new word.
 */
export function leftOnTop(onTop: Period, { run, lastWord }: FormerRun, start: Instant, calendar: Calendar): Period {
  if (run === undefined) return NO_PERIOD;
  // By the rules of then: an hour between what they and those of now make of the same time is no gap.
  const then = lastWord === undefined ? calendar : calendar.asOf(lastWord.at);
  const wordEnd = lastWord === undefined ? run.start : then.add(lastWord.start, lastWord.span);
  const starts = lastWord === undefined ? [start] : calendar.readingsAt(start, lastWord.at);
  // Records of which one ends with a day, and the next begins with the next day, leave no gap.
  const gapBegins = then.add(Math.max(run.start, wordEnd), { months: 0, days: 1, seconds: 0 });
  return starts.some((each) => each <= gapBegins) ? onTop : atMost(onTop, start, run.end, calendar);
}

/**
 * As much of a period as leads from `start` to `end`. Months are used up first, since it is among the days that
 * goodwill is, and a day that has begun is whole. Where the rules of the zone have changed, the end may be the same time of
 * the wall clock as that to which the period leads, and hours before or after it: they are no day. Where a country moves
 * across the date line, it is a day, and the end that was promised stays the instant that it was.
 */
function atMost(period: Period, start: Instant, end: Instant, calendar: Calendar): Period {
  const after = (months: number, days: number) => calendar.add(start, { months, days, seconds: 0 });
  const isWithHours = (months: number, days: number, is: (instant: Instant) => boolean) => {
    const plain = after(months, days);
    return calendar
      .endings(start, { months, days, seconds: 0 })
      .some((each) => is(each) && Math.abs(each - plain) < DAY_MS / 2);
  };
  const reachesEnd = (months: number, days: number) =>
    after(months, days) >= end || isWithHours(months, days, (each) => each >= end);
  const isBeyond = (months: number, days: number) =>
    after(months, days) > end && !isWithHours(months, days, (each) => each <= end);
  if (reachesEnd(0, 0)) return NO_PERIOD;
  if (!isBeyond(period.months, period.days)) return period;
  let months = Math.min(period.months, calendar.between(start, end).months);
  const isOneMore = after(months + 1, 0) > end && !isBeyond(months + 1, 0);
  if (isOneMore && months < period.months) months += 1;
  while (months > 0 && isBeyond(months, period.days)) months -= 1;
  // No zone is moved by more than a day, and clocks by some hours.
  const fewest = Math.max(0, Math.floor((end - after(months, 0)) / DAY_MS) - 2);
  let days = isBeyond(months, period.days) ? fewest : period.days;
  while (!reachesEnd(months, days)) days += 1;
  return { months, days };
}
