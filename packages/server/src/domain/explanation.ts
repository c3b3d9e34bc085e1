import { type Calendar, type Instant, NO_SPAN } from "./calendar.ts";
import { type FoldStep, foldSteps } from "./fold.ts";
import type { Grant, Subscription } from "./subscription.ts";

/** What a grant did. */
export type Effect =
  /** A top-up, or goodwill, began a run where there was no subscription. */
  | "first_run"
  /** It went on with the run that was on. */
  | "continued"
  /** It began a run after the one before it had ended. */
  | "new_run"
  /** Records stated a subscription where there was none. */
  | "stated"
  /** They stated one in place of what there was. */
  | "restated"
  /** The same, and something that was granted here has a part in the run. */
  | "restated_topped_up"
  /** A withdrawal took the subscription back. */
  | "withdrawn"
  /** A withdrawal found no subscription to take back. */
  | "nothing"
  /** A top-up, or goodwill, that counts no more, since all of it was taken back later. */
  | "reversed"
  /** It is itself what takes a top-up back. */
  | "reversal"
  /** It is itself what takes goodwill back. */
  | "take_back"
  /** Records that count no more: they spoke of a run that is not there without what was taken back. */
  | "passed_over"
  /** The first entry that is left of a ledger: what there was before it was let go, so nobody can tell what it did. */
  | "opening";

/** One grant, and the subscription before and after it. */
export interface Step {
  readonly grant: Grant;
  readonly before: Subscription | undefined;
  readonly after: Subscription | undefined;
  readonly effect: Effect;
  /** Of goodwill: how many of its days were taken back later. */
  readonly daysTakenBack: number;
  /** What a reader who counts the months along would not expect of the end after it. */
  readonly oddities: Oddities;
}

export interface Oddities {
  /** The run's start plus its months, where the month has no such day and its last was taken. */
  readonly clamped: Instant | undefined;
  /** The run's start plus months and days, where clocks skip that time on that day. */
  readonly shifted: Instant | undefined;
}

/**
 * The fold of a ledger, a step for each grant: the last step's `after` is the subscription.
 * Source: decisions, "Bouquets, subscriptions and the renewal rule". The steps are those of
 * {@link foldSteps} itself, and what a grant did is read off from them: there is no second rule here.
 */
export function explainLedger(plan: string, grants: readonly Grant[], calendar: Calendar, isPruned = false): Step[] {
  return foldSteps(plan, grants, calendar).map((step, index) => {
    const { grant, before, after, daysTakenBack } = step;
    const oddities = after === undefined ? NO_ODDITIES : findOddities(after, calendar);
    const effect = isPruned && index === 0 ? "opening" : effectOf(step);
    return { grant, before, after, effect, daysTakenBack, oddities };
  });
}

const NO_ODDITIES: Oddities = { clamped: undefined, shifted: undefined };

function effectOf({ grant, counts, before, after }: FoldStep): Effect {
  if (grant.kind === "reversal" || grant.kind === "take_back") return grant.kind;
  if (!counts) return grant.kind === "statement" ? "passed_over" : "reversed";
  if (after === undefined) return before === undefined ? "nothing" : "withdrawn";
  if (grant.kind === "top_up" || grant.kind === "goodwill") {
    if (before === undefined) return "first_run";
    return after.start === before.start ? "continued" : "new_run";
  }
  if (before === undefined) return "stated";
  return after.grantedEnd === undefined ? "restated" : "restated_topped_up";
}

function findOddities({ start, span: { months, days } }: Subscription, calendar: Calendar): Oddities {
  const byMonths = calendar.add(start, { ...NO_SPAN, months });
  const byDays = calendar.add(start, { ...NO_SPAN, months, days });
  const isClamped = dayOfMonth(byMonths, calendar) < dayOfMonth(start, calendar);
  const isShifted = byDays <= calendar.last && timeOfDay(byDays, calendar) !== timeOfDay(start, calendar);
  return { clamped: isClamped ? byMonths : undefined, shifted: isShifted ? byDays : undefined };
}

function dayOfMonth(instant: Instant, calendar: Calendar): number {
  return Number(calendar.format(instant).slice(8, 10));
}

function timeOfDay(instant: Instant, calendar: Calendar): string {
  return calendar.format(instant).slice(11);
}
