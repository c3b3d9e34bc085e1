import { type Calendar, type Choices, DAY_MS, type DemoSubscription, type Instant, isMonthEnd } from "./customers.ts";

/*
 * The plan of the demo's history. It is complete before its first call is made.
 */

export const HISTORY_DAYS = 92;
/** The partners. The first one is the demo's own, which makes a few calls too. */
export const DEMO_PARTNERS = ["demo", "Everest Wallet", "Namaste Pay", "City Kiosks"] as const;

/** Partners with a credit limit. Each pays the amount in every so many days. */
export const DEMO_ACCOUNTS = [
  { name: "Namaste Pay", creditLimit: "0", alertBelow: "20000", percent: "2.5", amount: "96000", days: 7 },
  { name: "City Kiosks", creditLimit: "400000", alertBelow: "-300000", percent: "1.5", amount: "210000", days: 30 },
] as const;

const HOUR_MS = 3_600_000;
/** The share of top-ups in each hour of a day. */
const SHARE_OF_HOURS = [2, 1, 0, 0, 0, 1, 2, 4, 6, 8, 9, 8, 9, 8, 7, 8, 10, 14, 18, 20, 18, 12, 7, 4];
const HOURS_OF_TOP_UPS = SHARE_OF_HOURS.flatMap((count, hour) => Array.from({ length: count }, () => hour));
/** Indexes in {@link DEMO_PARTNERS}, by their share of the top-ups. */
const PARTNERS_OF_TOP_UPS = [0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3];

const SUPPORT = ["Sunita Rai", "Bikram Thapa"];
const REVERSAL_REASONS = ["bought for the wrong box", "paid twice", "the customer asked for another package"];
const GOODWILL_REASONS = ["line cut by road works", "no signal for two days", "router was changed late"];
const BLOCK_REASONS = ["equipment not returned", "asked for by the customer", "moved away"];
const MISTAKES = ["amount", "customer", "connection"] as const;

/** A top-up. `partner` is an index in {@link DEMO_PARTNERS}. */
export interface PlannedTopUp {
  readonly kind: "top_up";
  readonly at: Instant;
  readonly subscription: DemoSubscription;
  readonly code: string;
  readonly partner: number;
}

export interface PlannedMistake extends Omit<PlannedTopUp, "kind"> {
  readonly kind: "mistake";
  /** The wrong part of the partner's call. */
  readonly wrong: (typeof MISTAKES)[number];
}

export interface PlannedCorrection {
  readonly kind: "reversal" | "goodwill" | "block" | "unblock";
  readonly at: Instant;
  readonly of: PlannedTopUp;
  readonly author: string;
  readonly reason: string;
}

/** Money that a partner pays in. */
export interface PlannedDeposit {
  readonly kind: "deposit";
  readonly at: Instant;
  readonly name: string;
  readonly amount: string;
  readonly reference: string;
}

export type Planned = PlannedTopUp | PlannedMistake | PlannedCorrection | PlannedDeposit;

/** @returns all events before `end`, in the order of time. */
export function planDemo(
  choices: Choices,
  calendar: Calendar,
  end: Instant,
  subscriptions: readonly DemoSubscription[],
): Planned[] {
  const begin = end - HISTORY_DAYS * DAY_MS;
  const midnight = midnightBefore(calendar, begin);
  const at = (day: number) => midnight + day * DAY_MS + choices.of(HOURS_OF_TOP_UPS) * HOUR_MS + choices.below(HOUR_MS);
  const topUps = subscriptions.flatMap((subscription) => topUpsOf(choices, calendar, begin, at, subscription));
  const planned: Planned[] = [...topUps, ...DEMO_ACCOUNTS.flatMap((account) => depositsOf(account, begin))];
  const correct = (kind: PlannedCorrection["kind"], of: PlannedTopUp, days: number, reasons: readonly string[]) =>
    planned.push({
      kind,
      at: of.at + Math.floor(days * DAY_MS),
      of,
      author: choices.of(SUPPORT),
      reason: choices.of(reasons),
    });
  for (const topUp of topUps) {
    if (choices.isOneIn(90)) correct("reversal", topUp, 0.01 + choices.next() / 8, REVERSAL_REASONS);
    else if (choices.isOneIn(150)) correct("goodwill", topUp, 1 + choices.next() * 6, GOODWILL_REASONS);
    else if (choices.isOneIn(400)) {
      correct("block", topUp, 5 + choices.next(), BLOCK_REASONS);
      if (choices.isOneIn(2)) correct("unblock", topUp, 8 + choices.next(), ["settled with the customer"]);
    }
    if (topUp.at > end - 30 * DAY_MS && choices.isOneIn(12))
      planned.push({ ...topUp, kind: "mistake", at: topUp.at - 60_000, wrong: choices.of(MISTAKES) });
  }
  return planned.filter((each) => each.at > begin && each.at < end).sort((a, b) => a.at - b.at);
}

function depositsOf({ name, amount, days }: (typeof DEMO_ACCOUNTS)[number], begin: Instant): PlannedDeposit[] {
  return Array.from({ length: Math.ceil(HISTORY_DAYS / days) }, (_, index) => {
    const reference = `bank-${days}${String(index + 1).padStart(3, "0")}`;
    return { kind: "deposit", at: begin + index * days * DAY_MS + 1, name, amount, reference };
  });
}

/** Most people top up some days before the end, some are late, and some give up. */
function topUpsOf(
  choices: Choices,
  calendar: Calendar,
  begin: Instant,
  at: (day: number) => Instant,
  subscription: DemoSubscription,
): PlannedTopUp[] {
  const topUps: PlannedTopUp[] = [];
  const [month, ...longer] = subscription.codes;
  let day = Math.max(0, subscription.endsOn - choices.below(6) + choices.below(3));
  while (day <= HISTORY_DAYS) {
    while (!isMonthEnd(calendar, begin + day * DAY_MS) && choices.isOneIn(4)) day += 1;
    const isLonger = longer.length > 0 && choices.isOneIn(14);
    const code = isLonger ? choices.of(longer) : month;
    topUps.push({ kind: "top_up", at: at(day), subscription, code, partner: choices.of(PARTNERS_OF_TOP_UPS) });
    if (isLonger || choices.isOneIn(40)) break;
    day += 13 + choices.below(10);
  }
  return topUps;
}

/** Midnight before a moment; an hour off on a day when the clocks change, which is good enough for a demo. */
function midnightBefore(calendar: Calendar, at: Instant): Instant {
  const [hours = 0, minutes = 0] = calendar.wallTime(at).slice(11, 16).split(":").map(Number);
  return at - (hours * 60 + minutes) * 60_000;
}
