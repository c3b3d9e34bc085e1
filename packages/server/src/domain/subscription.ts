import { addSpans, type Calendar, type Instant, NO_SPAN, type Span } from "./calendar.ts";
import type { Period } from "./period.ts";

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
  /** What the provider's own records say: a subscription of `span` that began at `start`. */
  | {
      readonly kind: "statement";
      readonly at: Instant;
      readonly bouquet: BouquetLabel;
      readonly start: Instant;
      readonly span: Span;
    }
  /** The provider's own records no longer hold the subscription. */
  | { readonly kind: "withdrawal"; readonly at: Instant }
  /** The trial environment goes back to its first state. Never written in production. */
  | { readonly kind: "reset"; readonly at: Instant };

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
  /** The part of `span` that top-ups granted, and that no import takes away. */
  readonly toppedUp: Span;
}

export function hasEnded(subscription: Subscription, now: Instant): boolean {
  return subscription.end <= now;
}

/**
 * The subscription that a ledger amounts to, or undefined where it grants nothing.
 * Source: decisions, "Bouquets, subscriptions and the renewal rule".
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
      return before !== undefined && isToppedUp(before) ? before : undefined;
    case "reset":
      return undefined;
  }
}

function applyTopUp(
  plan: string,
  before: Subscription | undefined,
  grant: Extract<Grant, { kind: "top_up" }>,
  calendar: Calendar,
): Subscription {
  const period = { ...grant.period, seconds: 0 };
  const run =
    before === undefined || hasEnded(before, grant.at)
      ? { start: grant.at, span: period, toppedUp: period }
      : { start: before.start, span: addSpans(before.span, period), toppedUp: addSpans(before.toppedUp, period) };
  return { plan, bouquet: grant.bouquet, ...run, end: calendar.add(run.start, run.span) };
}

/**
 * The provider's word replaces its own former word, and what top-ups granted to a run that has not
 * ended is laid on top of it. A statement that would shorten such a run says nothing new.
 */
function applyStatement(
  plan: string,
  before: Subscription | undefined,
  grant: Extract<Grant, { kind: "statement" }>,
  calendar: Calendar,
): Subscription {
  const kept = before !== undefined && isToppedUp(before) && !hasEnded(before, grant.at) ? before : undefined;
  const toppedUp = kept?.toppedUp ?? NO_SPAN;
  const span = addSpans(grant.span, toppedUp);
  const end = calendar.add(grant.start, span);
  if (kept !== undefined && end <= kept.end) return kept;
  return { plan, bouquet: kept?.bouquet ?? grant.bouquet, start: grant.start, end, span, toppedUp };
}

/** Whether a top-up has a part in the run, so that no import may take it away. */
export function isToppedUp({ toppedUp: { months, days } }: Subscription): boolean {
  return months > 0 || days > 0;
}

/**
 * The span of an imported subscription. Where the dates are a whole number of the bouquet's own
 * periods, they are counted as such, so that a renewal of 31 January's subscription, imported as
 * ending on 28 February, goes on to 31 March.
 */
export function importedSpan(start: Instant, end: Instant, period: Period, calendar: Calendar): Span {
  const between = calendar.between(start, end);
  const guess = period.months > 0 ? between.months / period.months : between.days / period.days;
  for (const count of [Math.floor(guess), Math.floor(guess) + 1]) {
    const span = { months: period.months * count, days: period.days * count, seconds: 0 };
    if (count > 0 && calendar.add(start, span) === end) return span;
  }
  return between;
}
