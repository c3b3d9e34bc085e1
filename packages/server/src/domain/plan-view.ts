import { explainEntries, headOf, type Ledger, newestGoodwill } from "./ledger.ts";
import type { Subscription } from "./subscription.ts";
import { DAY_MS, midnightOf, type WallTime, wallMsBetween } from "./wall-time.ts";

/*
 * What staff see of a plan: its state, its end and the days left. Pages, lists, commands and files show this, and compute
 * nothing.
 */

/** `waiting`: it has not begun. `reversed`: a reversal left nothing of it. `blocked`: it would run, but its connection is blocked. */
export const PLAN_STATES = ["running", "waiting", "ended", "reversed", "blocked"] as const;
export type PlanState = (typeof PLAN_STATES)[number];

export type Run = Pick<Subscription, "bouquet" | "start" | "end">;

export interface PlanView {
  readonly plan: string;
  readonly state: PlanState;
  /** The subscription. If nothing is left of it, its last run; undefined if that never began. */
  readonly run: Run | undefined;
  /** The entry of the newest goodwill that is not reversed. */
  readonly goodwill: number | undefined;
}

export function planView(ledger: Ledger, blocked: boolean, now: WallTime): PlanView {
  const { plan, entries } = ledger;
  const { subscription } = headOf(ledger);
  const goodwill = newestGoodwill(ledger)?.seq;
  if (subscription !== undefined)
    return { plan, state: runState(subscription, blocked, now), run: subscription, goodwill };
  const state = entries.at(-1)?.kind === "reversal" ? "reversed" : "ended";
  return { plan, state, run: lastRun(ledger), goodwill };
}

/** The state of a subscription. */
export function runState({ start, end }: Pick<Run, "start" | "end">, blocked: boolean, now: WallTime): PlanState {
  if (end <= now) return "ended";
  if (start > now) return "waiting";
  return blocked ? "blocked" : "running";
}

/** Days from today to the day of an end, by the calendar; negative if it is past. */
export function daysLeft(end: WallTime, now: WallTime): number {
  return wallMsBetween(midnightOf(now), midnightOf(end)) / DAY_MS;
}

/** The last run of a plan of which nothing is left. It ended no later than the entry that ended it. */
function lastRun(ledger: Ledger): Run | undefined {
  const ended = explainEntries(ledger).findLast(
    ({ before, entry }) => before !== undefined && before.start < entry.at.wall,
  );
  if (ended?.before === undefined) return undefined;
  const { bouquet, start, end } = ended.before;
  const { wall } = ended.entry.at;
  return { bouquet, start, end: end < wall ? end : wall };
}

const ORDER: readonly PlanState[] = ["running", "blocked", "waiting", "ended", "reversed"];

/** The plan that answers "does it run, and until when" comes first: a base plan that runs longest, else what comes closest. */
export function byImportance(a: PlanView, b: PlanView): number {
  const [endA, endB] = [a.run?.end ?? "", b.run?.end ?? ""];
  return rankOf(a) - rankOf(b) || (endA < endB ? 1 : -1);
}

function rankOf({ state, run }: PlanView): number {
  return 2 * ORDER.indexOf(state) + (run?.bouquet.addOn === true ? 1 : 0);
}
