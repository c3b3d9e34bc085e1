import { type Calendar, type Instant, isSameSecond, type Span } from "./calendar.ts";
import type { StatedSubscription } from "./customer-row.ts";
import { NO_PERIOD, type Period, subtractPeriods } from "./period.ts";
import { applyGrant, type Grant, hasEnded, isGranted, type Subscription } from "./subscription.ts";

type Statement = Extract<Grant, { kind: "statement" }>;

/** What a plan's ledger comes to since the provider's last word. */
interface History {
  /** The provider's last word, unless it was withdrawn since. */
  readonly lastWord: Statement | undefined;
  /** The subscription after that word, and after each top-up since; the last one is what it is now. */
  readonly states: readonly Subscription[];
}

/**
 * What a provider's records say anew of a plan, as a grant to append; undefined where they say nothing
 * new. Nothing that a top-up granted is lost, and nothing is granted twice where the records have
 * taken a top-up in:
 *
 * - the provider's last word, repeated, is nothing new;
 * - records that end where the subscription ended after one of the top-ups since have taken that top-up
 *   and those before it in: the end stays, and from then on they count as the provider's own;
 * - any other word replaces the provider's former one, and the top-ups that it does not hold are laid
 *   on top. A word that would end a run before its last top-up did is an old one, and passed over.
 */
export function restate(
  ledger: readonly Grant[],
  stated: StatedSubscription,
  now: Instant,
  calendar: Calendar,
): Statement | undefined {
  const { lastWord, states } = readHistory(ledger, stated.plan, calendar);
  const current = states.at(-1);
  if (lastWord !== undefined && repeats(lastWord, stated, calendar, current)) return undefined;

  const absorbed = states.findLast(({ grantedEnd, toppedUp, end }) => {
    const holdsTopUps = grantedEnd !== undefined && (toppedUp.months > 0 || toppedUp.days > 0);
    return holdsTopUps && isSameSecond(end, stated.end);
  });
  if (current !== undefined && absorbed !== undefined) {
    // Records of a run that is over say nothing new of it, nor of one that came after.
    if (absorbed.start !== current.start || hasEnded(current, now)) return undefined;
    const onTop = subtractPeriods(current.toppedUp, absorbed.toppedUp);
    const span = subtractFromSpan(current.span, onTop);
    return { kind: "statement", at: now, bouquet: stated.bouquet, start: current.start, span, onTop };
  }

  const granted = current !== undefined && isGranted(current, now) ? current : undefined;
  const onTop = granted?.toppedUp ?? NO_PERIOD;
  const word: Statement = {
    kind: "statement",
    at: now,
    bouquet: stated.bouquet,
    start: stated.start,
    span: stated.span,
    onTop,
  };
  if (granted?.grantedEnd === undefined) return word;
  const after = applyGrant(stated.plan, current, word, calendar) as Subscription;
  return after.end < granted.grantedEnd ? undefined : word;
}

function readHistory(ledger: readonly Grant[], plan: string, calendar: Calendar): History {
  let lastWord: Statement | undefined;
  let states: Subscription[] = [];
  let current: Subscription | undefined;
  for (const grant of ledger) {
    current = applyGrant(plan, current, grant, calendar);
    if (grant.kind !== "top_up") {
      lastWord = grant.kind === "statement" ? grant : undefined;
      states = [];
    }
    if (current !== undefined) states.push(current);
  }
  return { lastWord, states };
}

/** Once a top-up has its part in a run, its start is the run's own and no longer the provider's to tell. */
function repeats(
  word: Statement,
  stated: StatedSubscription,
  calendar: Calendar,
  current: Subscription | undefined,
): boolean {
  const sameBouquet = word.bouquet.code === stated.bouquet.code && word.bouquet.addOn === stated.bouquet.addOn;
  const sameStart = isSameSecond(word.start, stated.start) || current?.grantedEnd !== undefined;
  return sameBouquet && sameStart && isSameSecond(calendar.add(word.start, word.span), stated.end);
}

function subtractFromSpan({ months, days, seconds }: Span, period: Period): Span {
  return { ...subtractPeriods({ months, days }, period), seconds };
}
