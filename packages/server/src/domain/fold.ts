import type { Calendar } from "./calendar.ts";
import { type FormerRun, leftOnTop } from "./left-on-top.ts";
import { isSamePeriod, NO_PERIOD } from "./period.ts";
import {
  admits,
  applyGrant,
  type CountedGrant,
  concerns,
  type Grant,
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
  /** Of a statement, with so much on top of it as still counts; of goodwill, with as many days as are left. */
  readonly grant: Grant;
  /** Not where it takes something back, was taken back wholly, or tells nothing of what is left without that. */
  readonly counts: boolean;
  /** Of goodwill: how many of its days were taken back later. */
  readonly daysTakenBack: number;
  readonly before: Subscription | undefined;
  readonly after: Subscription | undefined;
  /** What the ledger amounted to before this entry, as it was known then: what is reversed now counted still. */
  readonly known: Subscription | undefined;
}

/** The fold, a step for each entry: the last step's `after` is the subscription. */
export function foldSteps(plan: string, grants: readonly Grant[], calendar: Calendar): FoldStep[] {
  let steps: FoldStep[] = [];
  const known: (Subscription | undefined)[] = [];
  const takenBack: TakenBack = { checkoutIds: new Set(), days: new Map() };
  for (const [index, grant] of grants.entries()) {
    const before = steps.at(-1)?.after;
    known.push(before);
    if (grant.kind === "reversal" || grant.kind === "take_back") {
      if (grant.kind === "reversal") takenBack.checkoutIds.add(grant.checkoutId);
      else takeFromLast(grants.slice(0, index), grant.days, takenBack.days);
      steps = countAnew(plan, grants.slice(0, index + 1), takenBack, known, calendar);
    } else {
      const after = applyGrant(plan, before, grant, calendar);
      steps.push({ grant, counts: true, daysTakenBack: 0, before, after, known: before });
    }
  }
  return steps;
}

/** What is not counted any more: top-ups by their checkoutIds, and days of goodwill by its place in the ledger. */
interface TakenBack {
  readonly checkoutIds: Set<string>;
  readonly days: Map<number, number>;
}

function takeFromLast(grants: readonly Grant[], days: number, takenBack: Map<number, number>): void {
  let rest = days;
  for (let place = grants.length - 1; place >= 0 && rest > 0; place -= 1) {
    const grant = grants[place];
    if (grant?.kind !== "goodwill") continue;
    const gone = takenBack.get(place) ?? 0;
    const some = Math.min(rest, grant.period.days - gone);
    takenBack.set(place, gone + some);
    rest -= some;
  }
}

/** The places of the goodwill of which some was taken back, with the number of days. */
export function placesTakenBack(grants: readonly Grant[]): ReadonlyMap<number, number> {
  const takenBack = new Map<number, number>();
  for (const [index, grant] of grants.entries())
    if (grant.kind === "take_back") takeFromLast(grants.slice(0, index), grant.days, takenBack);
  return takenBack;
}

/** The fold without what was taken back. */
function countAnew(
  plan: string,
  grants: readonly Grant[],
  takenBack: TakenBack,
  known: readonly (Subscription | undefined)[],
  calendar: Calendar,
): FoldStep[] {
  let before: Subscription | undefined;
  let lastWord: Statement | undefined;
  return grants.map((entry, index) => {
    const daysTakenBack = takenBack.days.get(index) ?? 0;
    const grant =
      entry.kind === "statement"
        ? lessen(entry, known[index], { run: before, lastWord }, calendar)
        : withoutDays(entry, daysTakenBack);
    const counts =
      grant.kind === "statement"
        ? mayStand(plan, entry as Statement, known[index], grant, before, calendar)
        : !isTakenBack(grant, takenBack.checkoutIds);
    const after = counts ? applyGrant(plan, before, grant as CountedGrant, calendar) : before;
    const step = { grant, counts, daysTakenBack, before, after, known: known[index] };
    before = after;
    lastWord = wordAfter(lastWord, step);
    return step;
  });
}

function withoutDays(grant: Grant, days: number): Grant {
  if (grant.kind !== "goodwill" || days === 0) return grant;
  return { ...grant, period: { ...grant.period, days: grant.period.days - days } };
}

function isTakenBack(grant: Grant, reversed: ReadonlySet<string>): boolean {
  if (grant.kind === "top_up") return reversed.has(grant.checkoutId);
  if (grant.kind === "goodwill") return grant.period.months === 0 && grant.period.days === 0;
  return grant.kind === "reversal" || grant.kind === "take_back";
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
 * What a statement laid on top was what had been granted by then, and was not used up. Where that was all of it, it is
 * counted anew; of any other, what was taken back since is taken off, but for the days of goodwill that are left.
 */
function lessen(
  statement: Statement,
  known: Subscription | undefined,
  counted: FormerRun,
  calendar: Calendar,
): Statement {
  const { onTop, start, span, at, grantedEnd, goodwillDays = 0 } = statement;
  const [then, now] = [known?.onTop ?? NO_PERIOD, counted.run?.onTop ?? NO_PERIOD];
  const [givenThen, given] = [known?.goodwillDays ?? 0, counted.run?.goodwillDays ?? 0];
  const months = Math.max(0, onTop.months - Math.max(0, then.months - now.months));
  const days = Math.max(Math.min(onTop.days, given), onTop.days - Math.max(0, then.days - now.days));
  const bears = (run: Subscription) => concerns({ start, end: calendar.add(start, span) }, run, at);
  if (known === undefined || !bears(known)) return statement;
  // Brought along from another topupd, it is counted from where the run began there.
  if (grantedEnd !== undefined) {
    if (counted.run?.start !== known.start) return statement;
    const left = Math.max(0, goodwillDays - Math.max(0, givenThen - given));
    return { ...statement, onTop: { months, days }, goodwillDays: Math.min(left, days) };
  }
  const { lastWord } = counted;
  const wasAll = isSamePeriod(onTop, leftOnTop(then, { run: known, lastWord }, start, calendar));
  const run = counted.run !== undefined && bears(counted.run) ? counted.run : undefined;
  return { ...statement, onTop: leftOnTop(wasAll ? now : { months, days }, { run, lastWord }, start, calendar) };
}

/** Whether a step is the provider's word: records, or that they do not hold the plan any more. */
export function isWord({ grant, counts }: Pick<FoldStep, "grant" | "counts">): boolean {
  return counts && (grant.kind === "statement" || grant.kind === "withdrawal");
}

/** The provider's last word after one more step: a withdrawal ends it. */
export function wordAfter(word: Statement | undefined, step: Pick<FoldStep, "grant" | "counts">) {
  if (!isWord(step)) return word;
  return step.grant.kind === "statement" ? step.grant : undefined;
}
