import { type Calendar, type Instant, isSameSecond, mayTell } from "./calendar.ts";
import type { CarriedRun } from "./carried-run.ts";
import { measureOf } from "./course.ts";
import type { StatedSubscription } from "./customer-row.ts";
import { type LedgerReading, readLedger } from "./ledger-reading.ts";
import { leftOnTop } from "./left-on-top.ts";
import { NO_PERIOD } from "./period.ts";
import { endWithout } from "./run-without.ts";
import { admits, concerns, type Grant, type Statement, type Subscription } from "./subscription.ts";

/**
 * Whether a provider's records hold the top-ups made here: `included`, `apart`, or nobody said.
 * A file cannot tell by itself: a subscription that a top-up carried to 1 February, and one that the
 * provider sold to 1 February beside the top-up, look the same in it.
 */
export type TopUpsInFile = "included" | "apart" | "unsaid";

/** What is said anew, and not taken, since it would take back what was granted here. */
export const PASSED_OVER = "passed_over";

type Restated = Statement | typeof PASSED_OVER | undefined;

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
): Restated {
  const reading = readLedger(stated.plan, ledger, calendar);
  const { carried } = stated;
  const runBorneOn = concerned(stated, reading.course.run, now, calendar);
  if (carried === undefined) return restateRecords(reading, runBorneOn, stated, now, calendar, topUps);
  const known = knownOf(carried, calendar.endings(stated.start, stated.span), reading.course.run);
  if (known !== "news") return known === "same" ? undefined : PASSED_OVER;
  // Dates that may lack what was granted here are taken as a copy's.
  if (topUps !== "included" && reading.hasOwnOnTop && runBorneOn !== undefined)
    return restateRecords(reading, runBorneOn, stated, now, calendar, "unsaid");
  const word = carryOver(stated, carried, now);
  return admits(stated.plan, runBorneOn, word, calendar) ? word : PASSED_OVER;
}

function restateRecords(
  { course, ends, bookedAndReversed }: LedgerReading,
  run: Subscription | undefined,
  { plan, bouquet, start, end, span }: StatedSubscription,
  now: Instant,
  calendar: Calendar,
  topUps: TopUpsInFile,
): Restated {
  const { lastWord } = course;
  if (lastWord !== undefined && repeats(lastWord, { bouquet, start, end }, calendar)) return undefined;
  if (isCopy(calendar.endings(start, span), ends, course.run?.goodwillDays ?? 0, topUps)) return undefined;
  const former = measureOf(course, { start, end }, now, calendar);
  const { onTop: granted, goodwillDays } = former.run ?? { onTop: NO_PERIOD, goodwillDays: 0 };
  // Goodwill is in no records, and stays on top also of those that hold the top-ups.
  const notHeld = topUps === "included" ? { months: 0, days: goodwillDays } : granted;
  const onTop = leftOnTop(notHeld, former, start, calendar);
  const word: Statement = { kind: "statement", at: now, bouquet, start, span, onTop };
  const lowest = run && endWithout(run, bookedAndReversed, calendar);
  return admits(plan, run, word, calendar, lowest) ? word : PASSED_OVER;
}

/**
 * Whether records tell nothing, since a copy of the subscription would end with them too.
 * @param end what their end may mean.
 */
function isCopy(end: readonly Instant[], ends: LedgerReading["ends"], goodwill: number, topUps: TopUpsInFile): boolean {
  const isOneOf = (former: readonly Instant[]) => former.some((each) => end.some((told) => mayTell(told, each)));
  if (topUps === "unsaid") return isOneOf(ends.onTop) || isOneOf(ends.takenBack);
  if (topUps === "apart") return false;
  // Goodwill would come on top of itself every night, or come back.
  return isOneOf(ends.goodwill) || (goodwill > 0 && isOneOf(ends.onTop));
}

/** What an export tells beside what is known: it may have been made before it, and nothing later granted there. */
function knownOf(
  { grantedEnd }: CarriedRun,
  end: readonly Instant[],
  current: Subscription | undefined,
): "same" | "older" | "news" {
  if (current === undefined) return "news";
  const endsTogether = end.some((each) => isSameSecond(current.end, each));
  if (endsTogether && (current.grantedEnd !== undefined || grantedEnd === undefined)) return "same";
  if (grantedEnd === undefined || current.grantedEnd === undefined) return "news";
  return grantedEnd <= current.grantedEnd && Math.max(...end) < current.end ? "older" : "news";
}

/** The run on which records bear. */
function concerned(
  stated: StatedSubscription,
  current: Subscription | undefined,
  now: Instant,
  calendar: Calendar,
): Subscription | undefined {
  return current !== undefined && concerns(stated, current, now, calendar) ? current : undefined;
}

/** As though the provider had said what was not granted there, and the rest had been granted here. */
function carryOver(
  { bouquet, start, span }: StatedSubscription,
  { onTop, goodwillDays, grantedEnd }: CarriedRun,
  now: Instant,
): Statement {
  const stated = { months: span.months - onTop.months, days: span.days - onTop.days, seconds: span.seconds };
  const granted = grantedEnd === undefined ? {} : { grantedEnd, goodwillDays };
  return { kind: "statement", at: now, bouquet, start, span: stated, onTop, ...granted };
}

/** What was stated to the millisecond, as an export does, is another time than the second of it. */
function isTold(told: Instant, meant: Instant): boolean {
  return told === meant || (told % 1000 === 0 && meant % 1000 === 0 && mayTell(told, meant));
}

function repeats(
  word: Statement,
  stated: Pick<StatedSubscription, "bouquet" | "start" | "end">,
  calendar: Calendar,
): boolean {
  const wordEnd = calendar.asOf(word.at).add(word.start, word.span);
  return (
    word.bouquet.code === stated.bouquet.code &&
    word.bouquet.addOn === stated.bouquet.addOn &&
    calendar.readings(stated.start).some((start) => isTold(start, word.start)) &&
    calendar.readings(stated.end).some((end) => isTold(end, wordEnd))
  );
}
