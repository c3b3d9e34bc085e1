import { addSpans, type Calendar, DAY_MS, type Instant, mayTell, NO_SPAN, type Span } from "./calendar.ts";
import { addPeriods, NO_PERIOD, type Period } from "./period.ts";

/** The bouquet a grant was made for, as it was at that time. */
export interface BouquetLabel {
  readonly code: string;
  readonly name: string;
  readonly addOn: boolean;
}

/**
 * An entry in the ledger of one plan on one connection. Entries are only ever appended; the
 * subscription is what they fold to.
 */
export type Grant = CountedGrant | Reversal | TakeBack;

/** What moves a subscription by itself. */
export type CountedGrant = PeriodGrant | Statement | Withdrawal;

export type PeriodGrant =
  /** A partner's top-up: one period of the bouquet. */
  | {
      readonly kind: "top_up";
      readonly at: Instant;
      readonly bouquet: BouquetLabel;
      readonly period: Period;
      readonly checkoutId: string;
    }
  /** Time that the provider's staff have given for nothing. */
  | { readonly kind: "goodwill"; readonly at: Instant; readonly bouquet: BouquetLabel; readonly period: Period };

/**
 * What the provider's own records say: a subscription of `span` that began at `start`. `onTop` is
 * the part of the run that was granted here and that those records do not hold yet.
 */
export interface Statement {
  readonly kind: "statement";
  readonly at: Instant;
  readonly bouquet: BouquetLabel;
  readonly start: Instant;
  readonly span: Span;
  readonly onTop: Period;
  /** Where the run was carried over from another topupd: where something that was granted there put its end. */
  readonly grantedEnd?: Instant | undefined;
  /** The same: how many days of `onTop` were goodwill there. */
  readonly goodwillDays?: number | undefined;
}

/** The subscription is taken back: by records that no longer hold it, or by a reset of the trial environment. */
interface Withdrawal {
  readonly kind: "withdrawal";
  readonly at: Instant;
}

/** One top-up of the ledger is taken back: from now on, the ledger is counted as though it had never been made. */
interface Reversal {
  readonly kind: "reversal";
  readonly at: Instant;
  readonly checkoutId: string;
}

/**
 * So many goodwill days are taken back, those given last first: from now on, the ledger is counted as though they had
 * never been given.
 */
interface TakeBack {
  readonly kind: "take_back";
  readonly at: Instant;
  readonly bouquet: BouquetLabel;
  readonly days: number;
}

/** One plan on one connection, from the start of its current run. */
export interface Subscription {
  readonly plan: string;
  /** The bouquet bought last. */
  readonly bouquet: BouquetLabel;
  /** The anchor from which all periods of the run are counted. */
  readonly start: Instant;
  readonly end: Instant;
  /** All periods of the run: `end` is `calendar.add(start, span)`, by the rules that the zone had when it was counted. */
  readonly span: Span;
  /** The part of `span` that was granted here, and that the provider's own records do not hold yet. */
  readonly onTop: Period;
  /** How many days of `onTop` staff gave for nothing: no records but those say anything of them. */
  readonly goodwillDays: number;
  /** Where the last top-up or goodwill put the end of this run, before which no import moves it. */
  readonly grantedEnd: Instant | undefined;
}

export function hasEnded(subscription: Subscription, now: Instant): boolean {
  return subscription.end <= now;
}

/**
 * Whether the provider's word may stand after what there is. Of a run that something granted here has a part in, what
 * was over before it began tells nothing, nor does what is still to begin while it lasts; and no word moves its end
 * before where the last grant put it.
 * @param lowest how far down it may move the end all the same, where what it holds was taken back since.
 */
export function admits(
  plan: string,
  before: Subscription | undefined,
  word: Statement,
  calendar: Calendar,
  lowest = Number.POSITIVE_INFINITY,
): boolean {
  const { at, start, span, grantedEnd } = word;
  const after = applyStatement(plan, before, word, calendar);
  // Of a run that was carried over, all was there.
  const end = grantedEnd === undefined ? calendar.add(start, span) : after.end;
  if (before?.grantedEnd === undefined || !concerns({ start, end }, before, at, calendar)) return true;
  if (isOverBefore(end, before, calendar) || start > at) return false;
  // Where records were corrected after a reversal, the run ends before what was granted in it had put it.
  const floor = Math.min(before.grantedEnd, before.end, lowest);
  const isKept = (end: Instant) => end >= floor || mayTell(end, floor);
  // Records tell a wall clock's times: by the rules that the zone had when it was promised, the end may be the same one,
  // and so may the start that it was counted from.
  return isKept(after.end) || calendar.endings(start, after.span).some(isKept);
}

/** Whether what is stated bears on a run with something granted here in it: while it lasts, and as far as they overlap. */
export function concerns(stated: Dates, run: Subscription, now: Instant, calendar: Calendar): boolean {
  return isGranted(run, now) || (run.grantedEnd !== undefined && overlaps(stated, run, calendar));
}

type Dates = Pick<Subscription, "start" | "end">;

/** What begins where a run ends does not overlap with it, by whatever rules the one and the other were said. */
export function overlaps({ start, end }: Dates, run: Dates, calendar: Calendar): boolean {
  return beginsWithin(start, run, calendar) && !isOverBefore(end, run, calendar);
}

function beginsWithin(start: Instant, run: Dates, calendar: Calendar): boolean {
  return start < run.end && calendar.readings(start).every((each) => each < run.end);
}

function isOverBefore(end: Instant, run: Dates, calendar: Calendar): boolean {
  return end <= run.start || calendar.readings(end).some((each) => each <= run.start);
}

const NOTHING_YET = { span: NO_SPAN, onTop: NO_PERIOD, goodwillDays: 0 };

/** The run that one more period goes on with, or that begins with it. */
function runToExtend(before: Subscription | undefined, at: Instant) {
  return before === undefined || hasEnded(before, at) ? { ...NOTHING_YET, start: at } : before;
}

/** Where one more period would put the end. */
export function endWith(before: Subscription | undefined, at: Instant, period: Period, calendar: Calendar): Instant {
  const { start, span } = runToExtend(before, at);
  return calendar.add(start, addSpans(span, { seconds: 0, ...period }));
}

/**
 * The subscription after one more top-up or goodwill, given what it was before. Of any other grant, what comes of it
 * depends on more than that: see fold.ts.
 */
export function applyGrant(
  plan: string,
  before: Subscription | undefined,
  { kind, at, bouquet, period }: PeriodGrant,
  calendar: Calendar,
): Subscription {
  const continued = runToExtend(before, at);
  const span = addSpans(continued.span, { seconds: 0, ...period });
  const end = calendar.add(continued.start, span);
  const onTop = addPeriods(continued.onTop, period);
  const goodwillDays = continued.goodwillDays + (kind === "goodwill" ? period.days : 0);
  // Goodwill is not bought: it notes what was bought last when it was given, and that may have been reversed since.
  const label = kind === "goodwill" ? (before?.bouquet ?? bouquet) : bouquet;
  return { plan, bouquet: label, start: continued.start, span, end, onTop, goodwillDays, grantedEnd: end };
}

/**
 * The provider's word replaces its own former word, and what it does not know of is laid on top. A word
 * that begins within the run goes on with it; one that begins later begins a run of its own.
 * @param before of a word that corrects others: the run that there would be without these.
 */
export function applyStatement(
  plan: string,
  before: Subscription | undefined,
  { bouquet, start, span: stated, onTop, grantedEnd, goodwillDays: carriedDays = 0 }: Statement,
  calendar: Calendar,
): Subscription {
  const granted = before?.grantedEnd !== undefined && beginsWithin(start, before, calendar) ? before : undefined;
  const span = addSpans(stated, { seconds: 0, ...onTop });
  const end = calendar.add(start, span);
  if (grantedEnd !== undefined) {
    // Carried over, it says itself what was bought last, and holds what was granted there by then.
    const latest = Math.max(grantedEnd, granted?.grantedEnd ?? grantedEnd);
    return { plan, bouquet, start, span, end, onTop, goodwillDays: carriedDays, grantedEnd: latest };
  }
  const label = granted?.bouquet ?? bouquet;
  const goodwillDays = Math.min(granted?.goodwillDays ?? 0, onTop.days);
  return { plan, bouquet: label, start, span, end, onTop, goodwillDays, grantedEnd: granted?.grantedEnd };
}

/** Whether two are the same in every part; also where there is none. */
export function isSameSubscription(a: Subscription | undefined, b: Subscription | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return (
    a.plan === b.plan &&
    a.bouquet.code === b.bouquet.code &&
    a.bouquet.name === b.bouquet.name &&
    a.bouquet.addOn === b.bouquet.addOn &&
    a.start === b.start &&
    a.end === b.end &&
    a.span.months === b.span.months &&
    a.span.days === b.span.days &&
    a.span.seconds === b.span.seconds &&
    a.onTop.months === b.onTop.months &&
    a.onTop.days === b.onTop.days &&
    a.goodwillDays === b.goodwillDays &&
    a.grantedEnd === b.grantedEnd
  );
}

/** Whether a part of the run was granted here, and the provider's own records do not hold it. */
export function hasOnTop({ onTop: { months, days } }: Subscription): boolean {
  return months > 0 || days > 0;
}

/** Whether something granted here has a part in a run that has not ended: no import takes such a run back or shortens it. */
export function isGranted(subscription: Subscription, now: Instant): boolean {
  return subscription.grantedEnd !== undefined && !hasEnded(subscription, now);
}

/**
 * The span of an imported subscription. Where the dates are a whole number of the bouquet's own
 * periods, they are counted as such, so that a renewal of 31 January's subscription, imported as
 * ending on 28 February, goes on to 31 March.
 */
export function importedSpan(start: Instant, end: Instant, period: Period, calendar: Calendar): Span {
  const between = calendar.between(start, end);
  const guess = period.months > 0 ? between.months / period.months : (end - start) / (period.days * DAY_MS);
  for (const count of [Math.floor(guess), Math.floor(guess) + 1]) {
    const span = { months: period.months * count, days: period.days * count, seconds: 0 };
    if (count > 0 && calendar.add(start, span) === end) return span;
  }
  return between;
}
