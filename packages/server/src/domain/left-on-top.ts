import { type Calendar, DAY_MS, type Instant } from "./calendar.ts";
import { NO_PERIOD, type Period } from "./period.ts";
import type { Statement, Subscription } from "./subscription.ts";

/** Records that say to the second before midnight, and from midnight on, leave no gap in which anything is used up. */
const NO_GAP_MS = DAY_MS;

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
 * customer has lived on what was granted meanwhile: only what is left of the run then goes on top, in whole days, a day
 * that has begun in the customer's favour. Else a year that was topped up and used would be given again with every month
 * that the provider sells.
 * @param onTop all that was granted on top of the run.
 * @param start of the new word.
 */
export function leftOnTop(onTop: Period, { run, lastWord }: FormerRun, start: Instant, calendar: Calendar): Period {
  if (run === undefined) return NO_PERIOD;
  const wordEnd = lastWord === undefined ? run.start : calendar.add(lastWord.start, lastWord.span);
  if (start < Math.max(run.start, wordEnd) + NO_GAP_MS) return onTop;
  if (start >= run.end) return NO_PERIOD;
  const { months, days, seconds } = calendar.between(start, run.end);
  const left = { months, days: seconds > 0 ? days + 1 : days };
  return endAfter(start, left, calendar) < endAfter(start, onTop, calendar) ? left : onTop;
}

function endAfter(start: Instant, { months, days }: Period, calendar: Calendar): Instant {
  return calendar.add(start, { months, days, seconds: 0 });
}
