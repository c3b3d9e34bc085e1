import type { Calendar } from "./calendar.ts";
import { type Course, courseAfter, measureOf, NO_COURSE } from "./course.ts";
import { leftOnTop } from "./left-on-top.ts";
import { isSamePeriod, NO_PERIOD, type Period } from "./period.ts";
import { admits, type CountedGrant, concerns, type Grant, type Statement, type Subscription } from "./subscription.ts";

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
  /** How the plan stands after this entry. */
  readonly course: Course;
}

/**
 * The fold, a step for each entry: the last step's `after` is the subscription. Each entry counts by the rules that the
 * zone had when it was made, so that an end which was promised stays where rules are changed.
 */
export function foldSteps(plan: string, grants: readonly Grant[], calendar: Calendar): FoldStep[] {
  let steps: FoldStep[] = [];
  const known: Course[] = [];
  const takenBack: TakenBack = { checkoutIds: new Set(), days: new Map() };
  for (const [index, grant] of grants.entries()) {
    const former = steps.at(-1)?.course ?? NO_COURSE;
    known.push(former);
    if (grant.kind === "reversal" || grant.kind === "take_back") {
      if (grant.kind === "reversal") takenBack.checkoutIds.add(grant.checkoutId);
      else takeFromLast(grants.slice(0, index), grant.days, takenBack.days);
      steps = countAnew(plan, grants.slice(0, index + 1), takenBack, known, calendar);
    } else {
      const course = courseAfter(plan, former, grant, calendar.asOf(grant.at));
      const runs = { before: former.run, after: course.run, known: former.run };
      steps.push({ grant, counts: true, daysTakenBack: 0, ...runs, course });
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

/** The fold without what was taken back. @param known how the plan stood before each entry, as it was known then. */
function countAnew(
  plan: string,
  grants: readonly Grant[],
  takenBack: TakenBack,
  known: readonly Course[],
  calendar: Calendar,
): FoldStep[] {
  let course = NO_COURSE;
  return grants.map((entry, index) => {
    const rules = calendar.asOf(entry.at);
    const [former, then] = [course, known[index] ?? NO_COURSE];
    const daysTakenBack = takenBack.days.get(index) ?? 0;
    const grant = entry.kind === "statement" ? lessen(entry, then, former, rules) : withoutDays(entry, daysTakenBack);
    const counts =
      grant.kind === "statement"
        ? mayStand(plan, entry as Statement, then.run, grant, former.run, rules)
        : !isTakenBack(grant, takenBack.checkoutIds);
    if (counts) course = courseAfter(plan, former, grant as CountedGrant, rules);
    return { grant, counts, daysTakenBack, before: former.run, after: course.run, known: then.run, course };
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
 * What a statement laid on top was what had been granted by then, or the goodwill of it, and was not used up: it is
 * counted anew. Of any other, what was taken back since is taken off, but for the days of goodwill that are left.
 * @param then how the plan stood as it was known then.
 * @param now how it stands without what was taken back since.
 */
function lessen(statement: Statement, then: Course, now: Course, calendar: Calendar): Statement {
  const { onTop, start, span, at } = statement;
  const stated = { start, end: calendar.add(start, span) };
  if (statement.grantedEnd !== undefined) {
    const bears = then.run !== undefined && concerns(stated, then.run, at, calendar);
    return bears && now.run?.start === then.run.start ? lessenCarried(statement, then.run, now.run) : statement;
  }
  const [former, counted] = [measureOf(then, stated, at, calendar), measureOf(now, stated, at, calendar)];
  if (former.run === undefined) return statement;
  const left = counted.run ?? NOTHING_GRANTED;
  const was = (granted: Period) => isSamePeriod(onTop, leftOnTop(granted, former, start, calendar));
  const anew = (granted: Period) => ({ ...statement, onTop: leftOnTop(granted, counted, start, calendar) });
  if (was(former.run.onTop)) return anew(left.onTop);
  if (was(goodwillIn(former.run))) return anew(goodwillIn(left));
  return anew(lessened(onTop, former.run, left));
}

type Granted = Pick<Subscription, "onTop" | "goodwillDays">;
const NOTHING_GRANTED: Granted = { onTop: NO_PERIOD, goodwillDays: 0 };

function goodwillIn({ goodwillDays }: Granted): Period {
  return { months: 0, days: goodwillDays };
}

/** Brought along from another topupd, it is counted from where the run began there. */
function lessenCarried(statement: Statement, then: Granted, now: Granted): Statement {
  const onTop = lessened(statement.onTop, then, now);
  const left = Math.max(0, (statement.goodwillDays ?? 0) - Math.max(0, then.goodwillDays - now.goodwillDays));
  return { ...statement, onTop, goodwillDays: Math.min(left, onTop.days) };
}

function lessened(onTop: Period, then: Granted, now: Granted): Period {
  return {
    months: Math.max(0, onTop.months - Math.max(0, then.onTop.months - now.onTop.months)),
    days: Math.max(Math.min(onTop.days, now.goodwillDays), onTop.days - Math.max(0, then.onTop.days - now.onTop.days)),
  };
}

/** Whether a step is the provider's word: records, or that they do not hold the plan any more. */
export function isWord({ grant, counts }: Pick<FoldStep, "grant" | "counts">): boolean {
  return counts && (grant.kind === "statement" || grant.kind === "withdrawal");
}
