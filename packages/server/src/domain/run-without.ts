import type { Calendar, Instant } from "./calendar.ts";
import type { Period } from "./period.ts";
import type { Subscription } from "./subscription.ts";

/** What a month comes to where it is taken off days: never less than there may have been. */
const MONTH_IN_DAYS = 31;

/**
 * Where a run would end without a part of it. Months are taken off months and days off days; but records tell of the
 * same run in other units (30 days and 2 are a month and a day in them), so what there is too little of is taken off
 * the other.
 */
export function endWithout(
  { start, span }: Pick<Subscription, "start" | "span">,
  part: Period,
  calendar: Calendar,
): Instant {
  const months = Math.max(0, span.months - part.months);
  const missing = Math.max(0, part.months - span.months);
  const days = span.days - part.days - missing * MONTH_IN_DAYS;
  const whole = calendar.add(start, { months, days: Math.max(0, days), seconds: span.seconds });
  const end = days < 0 ? calendar.add(whole, { months: 0, days, seconds: 0 }) : whole;
  return Math.max(start, end);
}
