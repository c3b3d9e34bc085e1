import type { Calendar, Instant } from "./calendar.ts";
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
  const wordEnd = lastWord === undefined ? run.start : calendar.add(lastWord.start, lastWord.span);
  // Records of which one ends with a day, and the next begins with the next day, leave no gap.
  const gapBegins = calendar.add(Math.max(run.start, wordEnd), { months: 0, days: 1, seconds: 0 });
  return start <= gapBegins ? onTop : atMost(onTop, start, run.end, calendar);
}

/**
 * As much of a period as leads from `start` to `end`. Months are used up first, since it is among the days that
 * goodwill is, and a day that has begun is whole.
 */
function atMost(period: Period, start: Instant, end: Instant, calendar: Calendar): Period {
  const after = (months: number, days: number) => calendar.add(start, { months, days, seconds: 0 });
  if (start >= end) return NO_PERIOD;
  if (after(period.months, period.days) <= end) return period;
  let months = Math.min(period.months, calendar.between(start, end).months);
  while (months > 0 && after(months, period.days) > end) months -= 1;
  let days = after(months, period.days) > end ? 0 : period.days;
  while (after(months, days) < end) days += 1;
  return { months, days };
}
