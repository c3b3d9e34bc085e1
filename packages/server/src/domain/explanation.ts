import { type Calendar, type Instant, NO_SPAN } from "./calendar.ts";
import { type FoldStep, foldSteps } from "./fold.ts";
import type { Grant, Subscription } from "./subscription.ts";

/**
 * What a grant did: began the plan's first run, went on with the run, began a run after the former had ended;
 * stated a subscription, stated one anew, stated one while top-ups had a part in the run; or took it back. Or
 * it counts no more, since all of it was taken back; is the reversal of a top-up, or takes goodwill back; or tells
 * nothing of what is left. What there was before an `opening` was let go.
 */
export type Effect =
  | "first_run"
  | "continued"
  | "new_run"
  | "stated"
  | "restated"
  | "restated_topped_up"
  | "withdrawn"
  | "reversed"
  | "reversal"
  | "take_back"
  | "passed_over"
  | "nothing"
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
