import { addSpans, type Calendar, DAY_MS, type Instant } from "./calendar.ts";
import type { FormerRun } from "./left-on-top.ts";
import { addPeriods, NO_PERIOD, type Period } from "./period.ts";
import {
  applyGrant,
  applyStatement,
  type CountedGrant,
  concerns,
  hasEnded,
  overlaps,
  type Statement,
  type Subscription,
} from "./subscription.ts";

/**
 * How a plan stands after some entries of its ledger: the subscription, and what the provider's next word is measured by.
 *
 * A word that begins before others corrects them, and may close the gap before a run. What it is measured by is what
 * there was before the first of them, with all that was granted since: what a word that was stated by mistake counted as
 * used up was not used up, and goodwill is goodwill as before. So the course before each of them is kept.
 */
export interface Course {
  readonly run: Subscription | undefined;
  /** The provider's last word, unless it was withdrawn since. */
  readonly lastWord: Statement | undefined;
  /** Where the last word begins, or a run that began since with what was granted; when that was; and what there was before. */
  readonly begun: { readonly start: Instant; readonly at: Instant; readonly before: Course } | undefined;
  /** Of the goodwill on top, how many days were given here, and not at another topupd. */
  readonly ownDays: number;
  /** All that was granted by then, of whatever run. */
  readonly granted: { readonly period: Period; readonly goodwillDays: number };
}

/** What a word is measured by. */
interface Measure extends FormerRun {
  readonly ownDays: number;
  /** What there was before the first of those that begin after the word. */
  readonly corrected: Course | undefined;
}

type Dates = Pick<Subscription, "start" | "end">;

export const NO_COURSE: Course = {
  ...{ run: undefined, lastWord: undefined, begun: undefined, ownDays: 0 },
  granted: { period: NO_PERIOD, goodwillDays: 0 },
};

/** For so long after its end, a run that was over is found to have lasted into the next. History that is older may be let go. */
export const CORRECTED_WITHIN_MS = 30 * DAY_MS;

export function courseAfter(plan: string, course: Course, grant: CountedGrant, calendar: Calendar): Course {
  switch (grant.kind) {
    case "withdrawal":
      return { ...NO_COURSE, granted: course.granted };
    case "statement":
      return afterWord(plan, course, grant, calendar);
    default: {
      const run = applyGrant(plan, course.run, grant, calendar);
      const begins = course.run === undefined || hasEnded(course.run, grant.at);
      const given = grant.kind === "goodwill" ? grant.period.days : 0;
      const { period, goodwillDays } = course.granted;
      return {
        ...course,
        run,
        begun: begins && course.run !== undefined ? { start: grant.at, at: grant.at, before: course } : course.begun,
        ownDays: (begins ? 0 : course.ownDays) + given,
        granted: { period: addPeriods(period, grant.period), goodwillDays: goodwillDays + given },
      };
    }
  }
}

function afterWord(plan: string, course: Course, word: Statement, calendar: Calendar): Course {
  const { start, span, at, grantedEnd } = word;
  const isCarried = grantedEnd !== undefined;
  const measure = measureOf(course, { start, end: calendar.add(start, span) }, at, calendar);
  const corrected = isCarried ? undefined : measure.corrected;
  const run = applyStatement(plan, corrected ? measure.run : course.run, word, calendar);
  // A word that begins after the run has a run of its own.
  const isContinued = course.run !== undefined && !hasEnded(course.run, start);
  const ownDays = corrected ? measure.ownDays : isContinued ? course.ownDays : 0;
  return {
    ...course,
    run,
    lastWord: word,
    // One that carries a run over tells of all that was granted in it: nothing from before it is to be given back.
    begun: isCarried ? undefined : { start, at, before: corrected ?? course },
    ownDays: Math.min(ownDays, run.onTop.days),
  };
}

/** @param stated what the word says, at `at`. */
export function measureOf(course: Course, stated: Dates, at: Instant, calendar: Calendar): Measure {
  const { run, lastWord, ownDays } = course;
  let [corrected, isOver] = [undefined as Course | undefined, false];
  // By the rules of then: what begins at the same time of the wall clock does not begin before it.
  const isBefore = (begun: NonNullable<Course["begun"]>) =>
    calendar.readingsAt(stated.start, begun.at).every((start) => start < begun.start);
  for (let { begun } = course; begun !== undefined && isBefore(begun); begun = begun.before.begun) {
    const former = begun.before.run;
    isOver ||= former !== undefined && former.end <= begun.start;
    if (lastsInto(former, stated, calendar) && !(isOver && at > former.end + CORRECTED_WITHIN_MS))
      corrected = begun.before;
  }
  if (corrected !== undefined) return { ...withGrantedSince(corrected, course, calendar), corrected };
  return { run: run && concerns(stated, run, at, calendar) ? run : undefined, lastWord, ownDays, corrected };
}

function lastsInto(run: Subscription | undefined, stated: Dates, calendar: Calendar): run is Subscription {
  return run?.grantedEnd !== undefined && overlaps(stated, run, calendar);
}

function withGrantedSince({ run, lastWord, ownDays, granted }: Course, now: Course, calendar: Calendar) {
  if (run === undefined) return { run, lastWord, ownDays };
  const { period, goodwillDays } = now.granted;
  const since = { months: period.months - granted.period.months, days: period.days - granted.period.days };
  const given = goodwillDays - granted.goodwillDays;
  const span = addSpans(run.span, { seconds: 0, ...since });
  const extended: Subscription = {
    ...run,
    span,
    bouquet: now.run?.grantedEnd === undefined ? run.bouquet : now.run.bouquet,
    end: calendar.add(run.start, span),
    onTop: addPeriods(run.onTop, since),
    goodwillDays: run.goodwillDays + given,
    grantedEnd: now.run?.grantedEnd ?? run.grantedEnd,
  };
  return { run: extended, lastWord, ownDays: ownDays + given };
}
