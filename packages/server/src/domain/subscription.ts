import { addSpans, type Calendar, DAY_MS, type Instant, NO_SPAN, type Span } from "./calendar.ts";
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
export type Grant =
  /** A partner's top-up: one period of the bouquet. */
  | { readonly kind: "top_up"; readonly at: Instant; readonly bouquet: BouquetLabel; readonly period: Period }
  /**
   * What the provider's own records say: a subscription of `span` that began at `start`. `onTop` is
   * the part of the run that top-ups granted and those records do not hold yet.
   */
  | {
      readonly kind: "statement";
      readonly at: Instant;
      readonly bouquet: BouquetLabel;
      readonly start: Instant;
      readonly span: Span;
      readonly onTop: Period;
    }
  /** The subscription is taken back: by records that no longer hold it, or by a reset of the trial environment. */
  | { readonly kind: "withdrawal"; readonly at: Instant };

/** One plan on one connection, from the start of its current run. */
export interface Subscription {
  readonly plan: string;
  /** The bouquet bought last. */
  readonly bouquet: BouquetLabel;
  /** The anchor from which all periods of the run are counted. */
  readonly start: Instant;
  readonly end: Instant;
  /** All periods of the run: `end` is always `calendar.add(start, span)`. */
  readonly span: Span;
  /** The part of `span` that top-ups granted and the provider's own records do not hold yet. */
  readonly toppedUp: Period;
  /** Where the last top-up put the end of this run, before which no import moves it. */
  readonly grantedEnd: Instant | undefined;
}

export function hasEnded(subscription: Subscription, now: Instant): boolean {
  return subscription.end <= now;
}

/**
 * The subscription that a ledger amounts to, or undefined where it grants nothing.
 * Source: decisions, "Bouquets, subscriptions and the renewal rule".
 *
 * How grants fold is as lasting as the grants: a change here would give subscriptions that were sold long
 * ago another end. A new renewal rule is a new kind of grant.
 */
export function foldGrants(plan: string, grants: readonly Grant[], calendar: Calendar): Subscription | undefined {
  return grants.reduce<Subscription | undefined>(
    (before, grant) => applyGrant(plan, before, grant, calendar),
    undefined,
  );
}

/** One step of the fold: the subscription after `grant`, given what it was before. */
export function applyGrant(
  plan: string,
  before: Subscription | undefined,
  grant: Grant,
  calendar: Calendar,
): Subscription | undefined {
  switch (grant.kind) {
    case "top_up":
      return applyTopUp(plan, before, grant, calendar);
    case "statement":
      return applyStatement(plan, before, grant, calendar);
    case "withdrawal":
      return undefined;
  }
}

function applyTopUp(
  plan: string,
  before: Subscription | undefined,
  { at, bouquet, period }: Extract<Grant, { kind: "top_up" }>,
  calendar: Calendar,
): Subscription {
  const continued =
    before === undefined || hasEnded(before, at) ? { start: at, span: NO_SPAN, toppedUp: NO_PERIOD } : before;
  const span = addSpans(continued.span, { ...period, seconds: 0 });
  const end = calendar.add(continued.start, span);
  const toppedUp = addPeriods(continued.toppedUp, period);
  return { plan, bouquet, start: continued.start, span, end, toppedUp, grantedEnd: end };
}

/**
 * The provider's word replaces its own former word, and what it does not know of is laid on top. A word
 * that begins within the run goes on with it; one that begins later begins a run of its own.
 */
function applyStatement(
  plan: string,
  before: Subscription | undefined,
  { bouquet, start, span: stated, onTop }: Extract<Grant, { kind: "statement" }>,
  calendar: Calendar,
): Subscription {
  const granted = before?.grantedEnd !== undefined && start < before.end ? before : undefined;
  const span = addSpans(stated, { ...onTop, seconds: 0 });
  const end = calendar.add(start, span);
  const label = granted?.bouquet ?? bouquet;
  return { plan, bouquet: label, start, span, end, toppedUp: onTop, grantedEnd: granted?.grantedEnd };
}

/** Whether a part of the run was granted by top-ups that the provider's own records do not hold. */
export function isToppedUp({ toppedUp: { months, days } }: Subscription): boolean {
  return months > 0 || days > 0;
}

/** Whether a top-up has a part in a run that has not ended: such a run is never taken back or shortened. */
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
