import { addSpans, type Calendar, type Instant, isSameSecond } from "./calendar.ts";
import type { CarriedRun } from "./carried-run.ts";
import type { StatedSubscription } from "./customer-row.ts";
import { type FoldStep, foldSteps, goodwillAfter, wordAfter } from "./fold.ts";
import { type FormerRun, leftOnTop } from "./left-on-top.ts";
import { addPeriods, NO_PERIOD, type Period } from "./period.ts";
import {
  admits,
  concerns,
  type Grant,
  hasEnded,
  isToppedUp,
  type Statement,
  type Subscription,
} from "./subscription.ts";

/**
 * Whether a provider's records hold the top-ups made here: `included`, `apart`, or nobody said.
 * A file cannot tell by itself: a subscription that a top-up carried to 1 February, and one that the
 * provider sold to 1 February beside the top-up, look the same in it.
 */
export type TopUpsInFile = "included" | "apart" | "unsaid";

/** What a plan's ledger comes to. */
interface History {
  readonly current: Subscription | undefined;
  /** The provider's last word, unless it was withdrawn since. */
  readonly lastWord: Statement | undefined;
  /** Where the subscription ended since that word, with top-ups in it. */
  readonly toppedUpEnds: readonly Instant[];
  /** The same, with top-ups that were taken back, or goodwill. */
  readonly reversedEnds: readonly Instant[];
  /** Where it ended before goodwill was taken back. */
  readonly goodwillEnds: readonly Instant[];
  /** What top-ups of the run come to that the last word holds, and that were taken back after it. */
  readonly bookedAndReversed: Period;
  /** What there was before that word, with all that was granted since. */
  readonly beforeWord: FormerRun;
  /** Whether anything that was granted here lies on top of the run. */
  readonly hasOwnOnTop: boolean;
  /** Days that staff gave the current run for nothing. */
  readonly goodwill: number;
}

/** What is said anew, and not taken, since it would take back what was granted here. */
export const PASSED_OVER = "passed_over";

/**
 * What a provider's records say anew of a plan, as a grant to append; undefined where they say nothing
 * new. Records replace what they said before. A run that a top-up has a part in is never moved to end
 * before its last top-up put it, and:
 *
 * - where top-ups are `included`, the records stand as they are, with staff's goodwill on top;
 * - where they are `apart`, the top-ups of the run are laid on top, as far as they are not used up;
 * - where nobody said, they are laid on top too, but records that end just where the subscription has
 *   ended with top-ups in it count as a copy of it, and change nothing: a copy that is taken every
 *   night must not grow every night. So do records that end where it did before something was taken back:
 *   else a copy from before that would bring it back.
 *
 * A run that another topupd has exported is here as it was there, with what was granted there apart from the provider's
 * own, which the next records tell again. It takes the place of what the provider said before, and of what was granted
 * here since only where its dates are said to hold that too.
 */
export function restate(
  ledger: readonly Grant[],
  stated: StatedSubscription,
  now: Instant,
  calendar: Calendar,
  topUps: TopUpsInFile,
): Statement | typeof PASSED_OVER | undefined {
  const history = readHistory(ledger, stated.plan, calendar);
  const { current, lastWord, toppedUpEnds, reversedEnds, goodwillEnds } = history;
  const { plan } = stated;
  const run = concerned(stated, current, now);
  if (stated.carried !== undefined) {
    if (current === undefined) return carryOver(stated, stated.carried, now);
    const isKnown = current.grantedEnd !== undefined || stated.carried.grantedEnd === undefined;
    if (isSameSecond(current.end, stated.end) && isKnown) return undefined;
    if (knowsNothingLater(stated.carried, stated.end, current)) return PASSED_OVER;
    // Dates that may lack what was granted here are taken as a copy's.
    if (history.hasOwnOnTop && run !== undefined && topUps !== "included")
      return restate(ledger, { ...stated, carried: undefined }, now, calendar, "unsaid");
    const word = carryOver(stated, stated.carried, now);
    return admits(plan, run, word, calendar) ? word : PASSED_OVER;
  }
  if (lastWord !== undefined && repeats(lastWord, stated, calendar)) return undefined;
  const { bouquet, start, span } = stated;
  const copied = run === undefined ? reversedEnds : [...toppedUpEnds, ...reversedEnds];
  const isCopy = (ends: readonly Instant[]) => ends.some((end) => isSameSecond(end, stated.end));
  if (topUps === "unsaid" && isCopy(copied)) return undefined;
  // Goodwill would come on top of itself every night, or come back.
  const withGoodwill = history.goodwill > 0 && run !== undefined ? [...toppedUpEnds, ...goodwillEnds] : goodwillEnds;
  if (topUps === "included" && isCopy(withGoodwill)) return undefined;

  // What staff gave for nothing, no records but these hold.
  const goodwill = { months: 0, days: history.goodwill };
  // A word that corrects the last one, so that it begins before that, is measured by what there was before both.
  const isCorrection = run !== undefined && lastWord !== undefined && start < lastWord.start;
  const isMeasuredBefore = isCorrection && history.beforeWord.run !== undefined && topUps !== "included";
  const former = isMeasuredBefore ? history.beforeWord : { run, lastWord };
  const granted = topUps === "included" ? goodwill : (former.run?.toppedUp ?? NO_PERIOD);
  const onTop = leftOnTop(granted, former, start, calendar);
  const word: Statement = { kind: "statement", at: now, bouquet, start, span, onTop };
  return admits(plan, run, word, calendar, run && lowestEnd(run, history.bookedAndReversed, calendar))
    ? word
    : PASSED_OVER;
}

/** Whether an export was made before what is known here: it ends earlier, and nothing later was granted there. */
function knowsNothingLater({ grantedEnd }: CarriedRun, end: Instant, current: Subscription): boolean {
  if (grantedEnd === undefined || current.grantedEnd === undefined) return false;
  return grantedEnd <= current.grantedEnd && end < current.end;
}

/** The run on which records bear. */
function concerned(stated: StatedSubscription, current: Subscription | undefined, now: Instant) {
  return current !== undefined && concerns(stated, current, now) ? current : undefined;
}

/** Where a run ends without top-ups that its last word holds, and that were taken back since. */
function lowestEnd(run: Subscription, booked: Period, calendar: Calendar): Instant {
  const { months, days, seconds } = run.span;
  const left = { months: Math.max(0, months - booked.months), days: Math.max(0, days - booked.days), seconds };
  return calendar.add(run.start, left);
}

/** As though the provider had said what was not granted there, and the rest had been granted here. */
function carryOver(
  { bouquet, start, span }: StatedSubscription,
  { toppedUp: onTop, grantedEnd }: CarriedRun,
  now: Instant,
): Statement {
  const stated = { months: span.months - onTop.months, days: span.days - onTop.days, seconds: span.seconds };
  return { kind: "statement", at: now, bouquet, start, span: stated, onTop, grantedEnd };
}

function readHistory(ledger: readonly Grant[], plan: string, calendar: Calendar): History {
  let lastWord: Statement | undefined;
  let [toppedUpEnds, reversedEnds, goodwillEnds]: [Instant[], Instant[], Instant[]] = [[], [], []];
  let goodwill = 0;
  let beforeWord: FormerRun = { run: undefined, lastWord: undefined };
  let hasOwnOnTop = false;
  const steps = foldSteps(plan, ledger, calendar);
  for (const [index, step] of steps.entries()) {
    const { grant, before, after, counts } = step;
    goodwill = goodwillAfter(goodwill, step);
    const isWord = counts && (grant.kind === "statement" || grant.kind === "withdrawal");
    if (isWord) beforeWord = { run: takesOver(grant, before) ? before : undefined, lastWord };
    else if (counts) beforeWord = { ...beforeWord, run: extended(beforeWord.run, grant, calendar) };
    if (counts) hasOwnOnTop = hasOwn(hasOwnOnTop, step);
    lastWord = wordAfter(lastWord, step);
    if (isWord || before === undefined || hasEnded(before, grant.at)) toppedUpEnds = [];
    if (isWord) [reversedEnds, goodwillEnds] = [[], []];
    if (after !== undefined && isToppedUp(after)) toppedUpEnds.push(after.end);
    const known = steps[index + 1]?.known;
    if (known === undefined || !isToppedUp(known) || known.end === after?.end) continue;
    reversedEnds.push(known.end);
    if (steps[index + 1]?.grant.kind === "take_back") goodwillEnds.push(known.end);
  }
  const bookedAndReversed = findBooked(steps, goodwill);
  const current = steps.at(-1)?.after;
  const ends = { toppedUpEnds, reversedEnds, goodwillEnds };
  return { current, lastWord, ...ends, bookedAndReversed, beforeWord, hasOwnOnTop, goodwill };
}

/** Whether a word goes on with a run that something granted here has a part in. */
function takesOver(word: Grant, before: Subscription | undefined): boolean {
  return word.kind === "statement" && before?.grantedEnd !== undefined && word.start < before.end;
}

/** A run with one more top-up or goodwill. */
function extended(run: Subscription | undefined, grant: Grant, calendar: Calendar): Subscription | undefined {
  if (run === undefined || (grant.kind !== "top_up" && grant.kind !== "goodwill")) return run;
  const span = addSpans(run.span, { seconds: 0, ...grant.period });
  const toppedUp = addPeriods(run.toppedUp, grant.period);
  return { ...run, span, toppedUp, end: calendar.add(run.start, span) };
}

/** Whether, after one more step, something that was granted here lies on top: not where an export said what does. */
function hasOwn(had: boolean, { grant, after }: FoldStep): boolean {
  if (grant.kind === "top_up" || grant.kind === "goodwill") return true;
  if (grant.kind !== "statement") return false;
  return had && grant.grantedEnd === undefined && after !== undefined && isToppedUp(after);
}

/** A word that had nothing but goodwill on top of it held the top-ups itself. */
function findBooked(steps: readonly FoldStep[], goodwill: number): Period {
  const last = steps.findLastIndex(({ grant, counts }) => counts && grant.kind === "statement");
  const word = steps[last];
  if (word?.grant.kind !== "statement" || word.after === undefined) return NO_PERIOD;
  const { start } = word.after;
  const isBooked = word.grant.onTop.months === 0 && word.grant.onTop.days <= goodwill;
  if (!isBooked) return NO_PERIOD;
  const reversedSince = new Set(
    steps.slice(last).flatMap(({ grant }) => (grant.kind === "reversal" ? [grant.checkoutId] : [])),
  );
  return steps.slice(0, last).reduce<Period>((sum, { grant }) => {
    if (grant.kind !== "top_up" || grant.at < start || !reversedSince.has(grant.checkoutId)) return sum;
    return addPeriods(sum, grant.period);
  }, NO_PERIOD);
}

function repeats(word: Statement, stated: StatedSubscription, calendar: Calendar): boolean {
  return (
    word.bouquet.code === stated.bouquet.code &&
    word.bouquet.addOn === stated.bouquet.addOn &&
    word.start === stated.start &&
    calendar.add(word.start, word.span) === stated.end
  );
}
