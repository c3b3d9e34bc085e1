import type { AuditedChange } from "./audit.ts";
import type { Calendar, Instant } from "./calendar.ts";
import {
  type Correction,
  candidatesFor,
  findGrantable,
  type GoodwillCommand,
  isToppedUpAfter,
  type LedgersSnapshot,
  subjectOf,
} from "./correction.ts";
import { runOf } from "./customer-audit.ts";
import { type FoldStep, foldSteps } from "./fold.ts";
import type { Ledger } from "./ledger.ts";
import type { BouquetLabel, Subscription } from "./subscription.ts";

/*
 * Goodwill days that were given by mistake are taken back. The subscription is then counted as though those days had
 * never been given, so nothing that was paid for, and nothing that records state, is shortened by it.
 * Source: decisions, "Corrections".
 */

/**
 * Why no more days can be taken back: they are all that were given in the run and are still on top; the others on top
 * were given at another topupd; the provider's records have been laid over them; the rest is over; what was paid for
 * would end earlier; or what there was before them has been let go.
 */
export type TakeBackLimit = "given" | "elsewhere" | "in_records" | "over" | "paid" | "history_gone";

export type TakeBackOutcome =
  | ({ readonly kind: "taken_back" } & Correction)
  | { readonly kind: "not_found" }
  /** The connection has no subscription, or none of that plan. */
  | { readonly kind: "no_subscription"; readonly plans: readonly string[] }
  /** Several have goodwill days: which one is meant? */
  | { readonly kind: "ambiguous"; readonly plans: readonly string[] }
  /** @property most how many can be taken back at most; 0 where none can. */
  | { readonly kind: "too_many"; readonly plan: string; readonly most: number; readonly limit: TakeBackLimit };

/** Takes days back that were given for nothing: at most as many as are left of them. */
export function decideTakeBack(
  { connection, ledgers }: LedgersSnapshot,
  { days, plan: asked, ...key }: GoodwillCommand,
  at: Instant,
  calendar: Calendar,
): TakeBackOutcome {
  if (connection === undefined) return { kind: "not_found" };
  const known = ledgers.flatMap((ledger) => findGrantable(ledger, connection.subscriptions));
  const holding = known.filter(({ plan }) => goodwillOf(find(ledgers, plan), calendar).days > 0);
  // Without a plan, only one that has some to give back can be meant.
  const candidates = candidatesFor(known, asked, at);
  const meant = asked === undefined && holding.length > 0 ? holding : candidates;
  const [candidate, another] = meant;
  if (candidate === undefined) return { kind: "no_subscription", plans: known.map(({ plan }) => plan) };
  if (another !== undefined) return { kind: "ambiguous", plans: meant.map(({ plan }) => plan) };

  const { plan, bouquet } = candidate;
  const ledger = find(ledgers, plan);
  const given = goodwillOf(ledger, calendar);
  const taking = new Taking(ledger, bouquet, given.days, at, calendar);
  const most = taking.most(Math.min(days, given.days));
  if (most < days) {
    const limit = most < given.days ? taking.limitOf(most + 1) : given.limit;
    return { kind: "too_many", plan, most, limit: limit ?? "given" };
  }
  const { grant, before, after } = taking.by(days);
  const audited: AuditedChange = {
    action: "subscription.take_back",
    subject: subjectOf(key),
    before: { [plan]: runOf(before) },
    after: { days, [plan]: runOf(after) },
  };
  const others = ledgers.filter((each) => each !== ledger);
  const left = [...others, { ...ledger, grants: [...ledger.grants, grant] }];
  const toppedUp = isToppedUpAfter(connection, left, calendar);
  return { kind: "taken_back", key, plan, grant, before, after, toppedUp, audited };
}

function find(ledgers: readonly Ledger[], plan: string): Ledger {
  return ledgers.find((ledger) => ledger.plan === plan) ?? { plan, grants: [], isPruned: false };
}

/**
 * The goodwill days of the current run that were given here and lie on top of what records state, and why there are no
 * more: perhaps because records have taken their place.
 */
function goodwillOf({ plan, grants }: Ledger, calendar: Calendar) {
  let [days, onTop, isInRecords] = [0, 0, false];
  for (const { grant, before, after, counts, course } of foldSteps(plan, grants, calendar)) {
    const left = course.ownDays;
    if (counts && grant.kind === "statement")
      isInRecords = left === 0 && (isInRecords || days > 0 || grant.grantedEnd !== undefined);
    else if (left > 0 || after?.start !== before?.start) isInRecords = false;
    [days, onTop] = [left, after?.goodwillDays ?? 0];
  }
  const limit: TakeBackLimit = onTop > days ? "elsewhere" : isInRecords ? "in_records" : "given";
  return { days, limit };
}

/** What a ledger comes to with some of its goodwill days taken back. */
class Taking {
  readonly #ledger: Ledger;
  readonly #bouquet: BouquetLabel;
  readonly #at: Instant;
  readonly #calendar: Calendar;
  /** Where it ends without any goodwill in the run. */
  readonly #paidEnd: Instant;

  constructor(ledger: Ledger, bouquet: BouquetLabel, given: number, at: Instant, calendar: Calendar) {
    this.#ledger = ledger;
    this.#bouquet = bouquet;
    this.#at = at;
    this.#calendar = calendar;
    const { before, after } = this.by(given);
    // Months that begin on another day can be longer: so goodwill at the start of a run may have shortened it.
    this.#paidEnd = Math.min(endOf(before), endOf(after));
  }

  by(days: number) {
    const { plan, grants } = this.#ledger;
    const grant = { kind: "take_back", at: this.#at, bouquet: this.#bouquet, days } as const;
    const steps = foldSteps(plan, [...grants, grant], this.#calendar);
    const last = steps.at(-1) as FoldStep;
    return { grant, before: last.known, after: last.after, keepsOpening: steps[0]?.counts === true };
  }

  /** Why so many days cannot be taken back; undefined where they can. */
  limitOf(days: number): TakeBackLimit | undefined {
    const { after, keepsOpening } = this.by(days);
    if (endOf(after) < this.#at) return "over";
    if (endOf(after) < this.#paidEnd) return "paid";
    return this.#ledger.isPruned && !keepsOpening ? "history_gone" : undefined;
  }

  /** How many of so many days can be taken back. */
  most(days: number): number {
    for (let most = days; most > 0; most -= 1) if (this.limitOf(most) === undefined) return most;
    return 0;
  }
}

function endOf(subscription: Subscription | undefined): Instant {
  return subscription?.end ?? Number.NEGATIVE_INFINITY;
}
