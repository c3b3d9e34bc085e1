import { type Calendar, type Instant, isSameSecond, type Span } from "./calendar.ts";
import type { StatedSubscription } from "./customer-row.ts";
import { addPeriods, NO_PERIOD, type Period, subtractPeriods } from "./period.ts";
import { applyGrant, type Grant, hasEnded, isGranted, type Subscription } from "./subscription.ts";

type Statement = Extract<Grant, { kind: "statement" }>;

/**
 * A provider that books a top-up in its own records does so a little later than topupd. Ends that are
 * this close to each other are one and the same; half a day, because a day can be bought.
 */
const SAME_END_MS = 12 * 60 * 60 * 1000;

/** What a plan's ledger comes to. */
interface History {
  readonly current: Subscription | undefined;
  /** The provider's last word, unless it was withdrawn since. */
  readonly lastWord: Statement | undefined;
  /** The top-ups of the current run that the provider's records do not hold yet, oldest first. */
  readonly pending: readonly Period[];
}

/**
 * What a provider's records say anew of a plan, as a grant to append; undefined where they say nothing
 * new. Nothing that a top-up granted is lost, and nothing is granted twice where the records have
 * taken a top-up in:
 *
 * - the provider's last word, repeated, is nothing new;
 * - records that end where the subscription ended after one of the pending top-ups have taken that
 *   top-up and those before it in: the end stays, and from then on they count as the provider's own;
 * - any other word replaces the provider's former one, and the pending top-ups are laid on top. A word
 *   that would end the run before its last top-up did, or that was over when the run began, is an old
 *   one, and passed over.
 */
export function restate(
  ledger: readonly Grant[],
  stated: StatedSubscription,
  now: Instant,
  calendar: Calendar,
): Statement | undefined {
  const { current, lastWord, pending } = readHistory(ledger, stated.plan, calendar);
  const run = current !== undefined && isGranted(current, now) ? current : undefined;
  if (lastWord !== undefined && repeats(lastWord, stated, run, calendar)) return undefined;

  // Records that end where a topped-up run has ended have nothing to tell of it.
  if (run === undefined && current?.grantedEnd !== undefined && isSameEnd(current.end, stated.end)) return undefined;

  const word = { kind: "statement", at: now, bouquet: stated.bouquet } as const;
  if (run === undefined) return { ...word, start: stated.start, span: stated.span, onTop: NO_PERIOD };
  const takenIn = countTakenIn(run, pending, stated.end, calendar);
  const onTop = sum(pending.slice(takenIn));
  if (takenIn > 0) return { ...word, start: run.start, span: subtractFromSpan(run.span, onTop), onTop };

  const renewed: Statement = { ...word, start: stated.start, span: stated.span, onTop };
  const after = applyGrant(stated.plan, run, renewed, calendar) as Subscription;
  const isOld = stated.end <= run.start || endsBefore(after.end, run.grantedEnd as Instant);
  return isOld ? undefined : renewed;
}

function readHistory(ledger: readonly Grant[], plan: string, calendar: Calendar): History {
  let current: Subscription | undefined;
  let lastWord: Statement | undefined;
  let pending: Period[] = [];
  for (const grant of ledger) {
    const isContinued = current !== undefined && !hasEnded(current, grant.at);
    current = applyGrant(plan, current, grant, calendar);
    if (!isContinued) pending = [];
    if (grant.kind === "top_up") pending.push(grant.period);
    else {
      lastWord = grant.kind === "statement" ? grant : undefined;
      while (pending.length > 0 && !isSamePeriod(sum(pending), current?.toppedUp ?? NO_PERIOD)) pending.shift();
    }
  }
  return { current, lastWord, pending };
}

/** How many of the pending top-ups, from the oldest on, records that end at `end` have taken in. */
function countTakenIn(run: Subscription, pending: readonly Period[], end: Instant, calendar: Calendar): number {
  const ends = pending.map((_, index) => {
    const notTakenIn = sum(pending.slice(index + 1));
    return calendar.add(run.start, subtractFromSpan(run.span, notTakenIn));
  });
  return ends.findLastIndex((candidate) => isSameEnd(candidate, end)) + 1;
}

/** Within a run that a top-up has a part in, the start is the run's own and no longer the provider's to tell. */
function repeats(
  word: Statement,
  stated: StatedSubscription,
  run: Subscription | undefined,
  calendar: Calendar,
): boolean {
  if (word.bouquet.code !== stated.bouquet.code || word.bouquet.addOn !== stated.bouquet.addOn) return false;
  const end = calendar.add(word.start, word.span);
  if (run !== undefined) return isSameEnd(end, stated.end);
  return isSameSecond(word.start, stated.start) && isSameSecond(end, stated.end);
}

function isSameEnd(a: Instant, b: Instant): boolean {
  return Math.abs(a - b) < SAME_END_MS;
}

function endsBefore(a: Instant, b: Instant): boolean {
  return a < b && !isSameSecond(a, b);
}

function sum(periods: readonly Period[]): Period {
  return periods.reduce(addPeriods, NO_PERIOD);
}

function isSamePeriod(a: Period, b: Period): boolean {
  return a.months === b.months && a.days === b.days;
}

function subtractFromSpan({ months, days, seconds }: Span, period: Period): Span {
  return { ...subtractPeriods({ months, days }, period), seconds };
}
