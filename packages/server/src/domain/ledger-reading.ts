import type { Calendar, Instant } from "./calendar.ts";
import { type Course, NO_COURSE } from "./course.ts";
import { type FoldStep, foldSteps, isWord } from "./fold.ts";
import { addPeriods, NO_PERIOD, type Period } from "./period.ts";
import { type Grant, hasEnded, hasOnTop, type Subscription } from "./subscription.ts";

/** What the ledger of a plan tells of records that come next. */
export interface LedgerReading {
  readonly course: Course;
  readonly ends: FormerEnds;
  /** Whether anything that was granted here lies on top of the run. */
  readonly hasOwnOnTop: boolean;
  /** What top-ups of the run come to that the last word holds, and that were taken back after it. */
  readonly bookedAndReversed: Period;
}

/** Where the subscription has ended since the last word: records that end just there may be copies of it. */
interface FormerEnds {
  /** With top-ups or goodwill in it, of the current run. */
  readonly onTop: readonly Instant[];
  /** With something in it that was taken back. */
  readonly takenBack: readonly Instant[];
  /** The same, where that was goodwill. */
  readonly goodwill: readonly Instant[];
}

interface Read extends Omit<LedgerReading, "bookedAndReversed"> {
  /** All days of goodwill that were ever given in the run, and of the last word's, when it was said. */
  readonly given: number;
  readonly givenInWord: number;
}

const NO_ENDS: FormerEnds = { onTop: [], takenBack: [], goodwill: [] };
const NOTHING: Read = {
  course: NO_COURSE,
  ends: NO_ENDS,
  hasOwnOnTop: false,
  given: 0,
  givenInWord: 0,
};

export function readLedger(plan: string, ledger: readonly Grant[], calendar: Calendar): LedgerReading {
  const steps = foldSteps(plan, ledger, calendar);
  const read = steps.reduce((former, step, index) => readStep(former, step, steps[index + 1]), NOTHING);
  return { ...read, bookedAndReversed: bookedAndReversed(steps, ledger, read.givenInWord) };
}

function readStep(former: Read, step: FoldStep, next: FoldStep | undefined): Read {
  const given = (beginsRun(step) || tellsAll(step) ? 0 : former.given) + daysGiven(step);
  return {
    course: step.course,
    ends: endsAfter(former.ends, step, next),
    hasOwnOnTop: step.counts ? hasOwnAfter(former.hasOwnOnTop, step) : former.hasOwnOnTop,
    given,
    givenInWord: isWord(step) ? given : former.givenInWord,
  };
}

function daysGiven({ grant, daysTakenBack }: FoldStep): number {
  if (grant.kind === "statement") return grant.goodwillDays ?? 0;
  return grant.kind === "goodwill" ? grant.period.days + daysTakenBack : 0;
}

/** A word that carries a run over tells of all that was given in it, here before or elsewhere. */
function tellsAll({ grant, counts }: FoldStep): boolean {
  return counts && grant.kind === "statement" && grant.grantedEnd !== undefined;
}

function beginsRun({ grant, before, counts }: FoldStep): boolean {
  return counts && (before === undefined || hasEnded(before, grant.at));
}

/** Only where it was seen to end can it have been copied, and not where it would have ended without what is taken back. */
function endsAfter(former: FormerEnds, step: FoldStep, next: FoldStep | undefined): FormerEnds {
  const { after } = step;
  const since = isWord(step) ? NO_ENDS : former;
  const onTop = beginsRun(step) ? [] : since.onTop;
  const seen = next === undefined ? after : next.known;
  if (!isRunWithOnTop(seen)) return { ...since, onTop };
  if (seen.end === after?.end) return { ...since, onTop: [...onTop, seen.end] };
  return {
    onTop,
    takenBack: [...since.takenBack, seen.end],
    goodwill: next?.grant.kind === "take_back" ? [...since.goodwill, seen.end] : since.goodwill,
  };
}

function isRunWithOnTop(run: Subscription | undefined): run is Subscription {
  return run !== undefined && hasOnTop(run);
}

/** Of a run that an export brought along, it says what lies on top; of any other word, what it takes over does. */
function hasOwnAfter(had: boolean, { grant, after }: FoldStep): boolean {
  if (grant.kind === "top_up" || grant.kind === "goodwill") return true;
  if (grant.kind !== "statement") return false;
  return had && grant.grantedEnd === undefined && isRunWithOnTop(after);
}

/**
 * A word that had nothing but goodwill on top of it held the top-ups itself. It tells nothing of a run that began since.
 * @param ledger tells what a word had on top as it was said.
 */
function bookedAndReversed(steps: readonly FoldStep[], ledger: readonly Grant[], givenInWord: number): Period {
  const last = steps.findLastIndex(({ grant, counts }) => counts && grant.kind === "statement");
  const [word, said] = [steps[last], ledger[last]];
  const start = word?.after?.start;
  if (said?.kind !== "statement" || start === undefined || start !== steps.at(-1)?.after?.start) return NO_PERIOD;
  const isBooked = said.onTop.months === 0 && said.onTop.days <= givenInWord;
  if (!isBooked) return NO_PERIOD;
  const reversedSince = new Set(
    ledger.slice(last).flatMap((grant) => (grant.kind === "reversal" ? [grant.checkoutId] : [])),
  );
  return ledger.slice(0, last).reduce<Period>((sum, grant) => {
    if (grant.kind !== "top_up" || grant.at < start || !reversedSince.has(grant.checkoutId)) return sum;
    return addPeriods(sum, grant.period);
  }, NO_PERIOD);
}
