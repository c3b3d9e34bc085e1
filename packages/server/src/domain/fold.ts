import type { Calendar } from "./calendar.ts";
import { NO_PERIOD } from "./period.ts";
import {
  admits,
  applyGrant,
  type CountedGrant,
  type Grant,
  hasEnded,
  type Statement,
  type Subscription,
} from "./subscription.ts";

/**
 * The subscription that a ledger amounts to, or undefined where it grants nothing.
 * Source: decisions, "Bouquets, subscriptions and the renewal rule".
 *
 * How grants fold is as lasting as the grants: a change here would give subscriptions that were sold long
 * ago another end. A new renewal rule is a new kind of grant.
 */
export function foldGrants(plan: string, grants: readonly Grant[], calendar: Calendar): Subscription | undefined {
  return foldSteps(plan, grants, calendar).at(-1)?.after;
}

/** One entry of a ledger, as it counts now. */
export interface FoldStep {
  /** Of a statement, with so much on top of it as still counts. */
  readonly grant: Grant;
  /** Not where it is a reversal, was taken back by one, or tells nothing of what is left without that. */
  readonly counts: boolean;
  readonly before: Subscription | undefined;
  readonly after: Subscription | undefined;
  /** What the ledger amounted to before this entry, as it was known then: what is reversed now counted still. */
  readonly known: Subscription | undefined;
}

/** The fold, a step for each entry: the last step's `after` is the subscription. */
export function foldSteps(plan: string, grants: readonly Grant[], calendar: Calendar): FoldStep[] {
  let steps: FoldStep[] = [];
  const known: (Subscription | undefined)[] = [];
  const reversed = new Set<string>();
  for (const [index, grant] of grants.entries()) {
    const before = steps.at(-1)?.after;
    known.push(before);
    if (grant.kind === "reversal") {
      reversed.add(grant.checkoutId);
      steps = countAnew(plan, grants.slice(0, index + 1), reversed, known, calendar);
    } else {
      steps.push({ grant, counts: true, before, after: applyGrant(plan, before, grant, calendar), known: before });
    }
  }
  return steps;
}

/** The fold without what was taken back. */
function countAnew(
  plan: string,
  grants: readonly Grant[],
  reversed: ReadonlySet<string>,
  known: readonly (Subscription | undefined)[],
  calendar: Calendar,
): FoldStep[] {
  let before: Subscription | undefined;
  let goodwill = 0;
  return grants.map((entry, index) => {
    const grant = entry.kind === "statement" ? lessen(entry, known[index], before, goodwill) : entry;
    const counts =
      grant.kind === "statement"
        ? mayStand(plan, entry as Statement, known[index], grant, before, calendar)
        : !isTakenBack(grant, reversed);
    const after = counts ? applyGrant(plan, before, grant as CountedGrant, calendar) : before;
    const step = { grant, counts, before, after, known: known[index] };
    goodwill = goodwillAfter(goodwill, step);
    before = after;
    return step;
  });
}

function isTakenBack(grant: Grant, reversed: ReadonlySet<string>): boolean {
  return grant.kind === "reversal" || (grant.kind === "top_up" && reversed.has(grant.checkoutId));
}

/** A word that was taken as the run was known then, and would not have been without what was taken back, is not counted. */
function mayStand(
  plan: string,
  entry: Statement,
  known: Subscription | undefined,
  counted: Statement,
  before: Subscription | undefined,
  calendar: Calendar,
): boolean {
  return admits(plan, before, counted, calendar) || !admits(plan, known, entry, calendar);
}

/**
 * What a statement laid on top was all that had been granted by then: what was taken back since is taken off, but
 * for the days of goodwill, which nobody took back.
 */
function lessen(
  statement: Statement,
  known: Subscription | undefined,
  counted: Subscription | undefined,
  goodwill: number,
): Statement {
  const { onTop } = statement;
  const [then, now] = [known?.toppedUp ?? NO_PERIOD, counted?.toppedUp ?? NO_PERIOD];
  const months = Math.max(0, onTop.months - Math.max(0, then.months - now.months));
  const days = Math.max(Math.min(onTop.days, goodwill), onTop.days - Math.max(0, then.days - now.days));
  return { ...statement, onTop: { months, days } };
}

/** How many days of a run were given for nothing, after one more step. */
export function goodwillAfter(days: number, { grant, counts, before, after }: Omit<FoldStep, "known">): number {
  if (!counts) return days;
  const isContinued = before !== undefined && (grant.kind === "statement" || !hasEnded(before, grant.at));
  const given = (isContinued ? days : 0) + (grant.kind === "goodwill" ? grant.period.days : 0);
  return Math.min(given, after?.toppedUp.days ?? 0);
}
