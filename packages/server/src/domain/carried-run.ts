import type { Bouquet } from "./bouquet.ts";
import type { Calendar, Instant, Span } from "./calendar.ts";
import { type FieldReader, NAME_MAX_LENGTH } from "./fields.ts";
import { areOffsetsApart, mayBeWritten } from "./other-rules.ts";
import type { Period } from "./period.ts";
import { hasOnTop, importedSpan, type Subscription } from "./subscription.ts";

/*
 * Of a subscription, a customers file tells a code and two dates. What a topupd knows beside them, and what would
 * be lost with an export, goes along as `carried`: the anchor to the millisecond and the periods that are counted
 * from it, which part of them was granted there, and plan and name where the catalogue has others by now.
 */

/** What was granted where a run comes from. */
export interface CarriedRun {
  readonly onTop: Period;
  /** Of the days of `onTop`. */
  readonly goodwillDays: number;
  readonly grantedEnd: Instant | undefined;
}

interface Run extends Omit<Subscription, "onTop" | "goodwillDays" | "grantedEnd"> {
  readonly carried: CarriedRun;
}

const MOST_MONTHS = 12_000;
const MOST_DAYS = 366_000;
const MOST_SECONDS = 1e10;

/** What {@link readCarried} reads; undefined where code and dates tell all. @param newest of the code, as an import knows it. */
export function carriedOf(subscription: Subscription, newest: Bouquet | undefined, calendar: Calendar) {
  const { plan, bouquet, start, end, span, onTop, goodwillDays, grantedEnd } = subscription;
  const other = {
    ...(plan === newest?.plan ? {} : { plan }),
    ...(bouquet.name === newest?.name ? {} : { name: bouquet.name }),
    ...(bouquet.addOn === newest?.addOn ? {} : { add_on: bouquet.addOn }),
  };
  if (grantedEnd === undefined && !hasOnTop(subscription) && Object.keys(other).length === 0) {
    const [from, to] = [calendar.parse(calendar.format(start)), calendar.parse(calendar.format(end))];
    const told = newest && from === start && to === end ? importedSpan(start, end, newest.period, calendar) : undefined;
    if (told !== undefined && isSameSpan(told, span)) return undefined;
  }
  return {
    start: new Date(start).toISOString(),
    ...span,
    ...{ topped_up_months: onTop.months, topped_up_days: onTop.days },
    ...(goodwillDays === 0 ? {} : { goodwill_days: goodwillDays }),
    ...(grantedEnd === undefined ? {} : { granted_until: new Date(grantedEnd).toISOString() }),
    ...other,
  };
}

/** The run that an export wrote beside the dates `start` and `end`, which must be those of the run. */
export function readCarried(
  fields: FieldReader,
  row: { readonly bouquet: Bouquet; readonly start: Instant; readonly end: Instant },
  calendar: Calendar,
): Run | undefined {
  const { code, period: _, ...newest } = row.bouquet;
  const start = fields.instant("start");
  const months = fields.count("months", MOST_MONTHS);
  const days = fields.count("days", MOST_DAYS);
  const seconds = fields.count("seconds", MOST_SECONDS);
  const onTop = {
    months: fields.count("topped_up_months", MOST_MONTHS),
    days: fields.count("topped_up_days", MOST_DAYS),
  };
  const goodwillDays = fields.count("goodwill_days", MOST_DAYS);
  // Later than the end where records were corrected after a reversal: it is what a later word is held against.
  const grantedEnd = fields.optionalInstant("granted_until");
  const plan = fields.optionalText("plan", { maxLength: NAME_MAX_LENGTH }) ?? newest.plan;
  const name = fields.optionalText("name", { maxLength: NAME_MAX_LENGTH }) ?? newest.name;
  const addOn = fields.has("add_on") ? fields.flag("add_on") : newest.addOn;
  if (start === undefined) return undefined;
  if (onTop.months > months || onTop.days > days)
    return fields.problem("topped_up_months", "and topped_up_days must be a part of months and days");
  if (goodwillDays > (grantedEnd === undefined ? 0 : onTop.days))
    return fields.problem("goodwill_days", "must be a part of topped_up_days, and needs granted_until");
  const span = { months, days, seconds };
  const end = calendar.add(start, span);
  // The instant counts. The dates may be those that other rules of the zone have made of it; and as dates they are
  // compared, for a time that clocks repeat reads as the first of the two.
  const [from, to] = [calendar.format(row.start), calendar.format(row.end)];
  const fits =
    mayBeWritten(from, start, calendar) &&
    (to === calendar.format(end) || areOffsetsApart(row.end, wholeSecond(end), calendar));
  if (!fits) return fields.problem("start", "does not fit the dates: leave carried out where you change these");
  return { plan, bouquet: { code, name, addOn }, start, end, span, carried: { onTop, goodwillDays, grantedEnd } };
}

function wholeSecond(instant: Instant): Instant {
  return Math.floor(instant / 1000) * 1000;
}

function isSameSpan(a: Span, b: Span): boolean {
  return a.months === b.months && a.days === b.days && a.seconds === b.seconds;
}
