import { addSpans, type Calendar, DAY_MS, type Instant } from "./calendar.ts";
import type { FormerRun } from "./left-on-top.ts";
import { addPeriods, NO_PERIOD, type Period } from "./period.ts";
import {
  applyGrant,
  applyStatement,
  type CountedGrant,
  concerns,
  hasEnded,
  type Statement,
  type Subscription,
} from "./subscription.ts";

/**
 * How a plan stands after some entries of its ledger: the subscription, and what the provider's next word is measured by.
 *
 * A word that begins before the last ones corrects them. What it is measured by is what there was before the first of
 * them, with all that was granted since: what a word that was stated by mistake counted as used up was not used up, and
 * goodwill is goodwill as before. So the words that go on with each other are kept, and the course before each.
 */
export interface Course {
  readonly run: Subscription | undefined;
  /** The provider's last word, unless it was withdrawn since. */
  readonly lastWord: Statement | undefined;
  /** The last word that may be corrected, and what there was before it. */
  readonly said: { readonly word: Statement; readonly before: Course } | undefined;
  /** Whether a run of its own has begun since the last word. */
  readonly hasBegun: boolean;
  /** Of the goodwill on top, how many days were given here, and not at another topupd. */
  readonly ownDays: number;
  /** All that was granted by then, of whatever run. */
  readonly granted: { readonly period: Period; readonly goodwillDays: number };
}

/** What a word is measured by. */
interface Measure extends FormerRun {
  readonly ownDays: number;
  /** Where the word corrects others: what there was before the first of them. */
  readonly corrected: Course | undefined;
}

type Dates = Pick<Subscription, "start" | "end">;

export const NO_COURSE: Course = {
  ...{ run: undefined, lastWord: undefined, said: undefined, hasBegun: false, ownDays: 0 },
  granted: { period: NO_PERIOD, goodwillDays: 0 },
};

/** For so long after its end, a run that was over before a word is found to have lasted into it. History that is older may be let go. */
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
        hasBegun: course.hasBegun || begins,
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
  const goesOn = isContinued && course.run?.grantedEnd !== undefined && !course.hasBegun;
  const before = corrected ?? (goesOn ? course : { ...course, said: undefined });
  return {
    ...course,
    run,
    lastWord: word,
    // One that carries a run over tells of all that was granted in it: nothing from before it is to be given back.
    said: isCarried ? undefined : { word, before },
    hasBegun: false,
    ownDays: Math.min(ownDays, run.onTop.days),
  };
}

/** @param stated what the word says, at `at`. */
export function measureOf(course: Course, stated: Dates, at: Instant, calendar: Calendar): Measure {
  const { run, lastWord, ownDays } = course;
  let corrected: Course | undefined;
  for (let { said } = course; said !== undefined && stated.start < said.word.start; said = said.before.said)
    if (lastsInto(said.before.run, said.word, stated, at)) corrected = said.before;
  if (corrected !== undefined) return { ...withGrantedSince(corrected, course, calendar), corrected };
  return { run: run && concerns(stated, run, at) ? run : undefined, lastWord, ownDays, corrected };
}

/** Whether a run that something granted here had a part in lasts into a word that corrects the one after it. */
function lastsInto(run: Subscription | undefined, next: Statement, stated: Dates, at: Instant): boolean {
  if (run?.grantedEnd === undefined || stated.start >= run.end || stated.end <= run.start) return false;
  return next.start < run.end || at <= run.end + CORRECTED_WITHIN_MS;
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
