import { type Answering, FAULTS, type Fault, PRACTICE_CUID, TOP_UP_OPERATION, type TrialCall } from "./practice.ts";
import type { Transaction } from "./transaction.ts";
import type { Instant } from "./wall-time.ts";

/*
 * The practice report: what a partner's program did after each fault of the practice customer. The last top-up that met
 * a fault counts, so that a partner can fix its program and try again.
 */

/** Each rule, and why a program must keep it. */
export const PRACTICE_RULES = {
  may_be_paid_twice: "A new checkoutId was used while the top-up before it was undecided: both can be recorded.",
  changed_request: "A request was repeated with other fields: repeat it unchanged.",
  sent_again: "A top-up was sent again after a refusal by balance or limit. It is final: list again.",
  given_up: "The top-up was undecided, and no call followed within an hour: ask until the answer is final.",
  too_fast: "A call came before the time in Retry-After, or more than 5 in a second.",
  wrong_books: "The partner's list disagrees with the records.",
} as const;
export type PracticeRule = keyof typeof PRACTICE_RULES;

/** Outcome of an order in the partner's own list. */
export const LISTED_OUTCOMES = ["paid", "refunded", "open"] as const;
export type ListedOutcome = (typeof LISTED_OUTCOMES)[number];

/** `open`: the report can still become better or worse without a new top-up. */
export const PRACTICE_VERDICTS = ["not_tried", "open", "passed", "failed"] as const;
export type PracticeVerdict = (typeof PRACTICE_VERDICTS)[number];

export interface Practised {
  /** The partner's top-ups of the practice customer, and all other calls with their checkoutIds. */
  readonly calls: readonly TrialCall[];
  /** The partner's recorded top-ups of the practice customer. */
  readonly topUps: readonly Transaction[];
  /** The partner's own list, by checkoutId. */
  readonly list: ReadonlyMap<string, ListedOutcome> | undefined;
  readonly now: Instant;
}

export interface BrokenRule {
  readonly rule: PracticeRule;
  /** The difference, if the rule alone does not say it. */
  readonly detail: string | undefined;
  /** The calls that prove it. */
  readonly calls: readonly TrialCall[];
}

/** The last top-up that met a fault. */
export interface FaultResult {
  readonly fault: string;
  readonly verdict: PracticeVerdict;
  readonly checkoutId: string | undefined;
  readonly recorded: Transaction["status"] | "no";
  readonly listed: ListedOutcome | undefined;
  readonly broken: readonly BrokenRule[];
  /** Its calls, oldest first. */
  readonly calls: readonly TrialCall[];
}

/**
 * The outcome of a top-up, as the partner's program can know it. `undecided`: it may be recorded. `waiting`: it is not
 * known to be recorded, and another call must follow.
 */
type Outcome = "recorded" | "never" | "undecided" | "refused" | "waiting";

/** All calls with one checkoutId. */
interface Order {
  readonly checkoutId: string;
  readonly reqId: string | undefined;
  readonly bouquetId: string | undefined;
  readonly from: Instant;
  /** Oldest first. */
  readonly calls: readonly TrialCall[];
}

const GIVEN_UP_MS = 3_600_000;
const MOST_CALLS_A_SECOND = 5;
/** Clocks of processes differ, and an answer can arrive before its end is noted. */
const TOLERANCE_MS = 200;

/** The outcome that each answer shows. Any other answer to a top-up is a refusal. */
const SHOWN: Readonly<Record<string, Outcome | "nothing">> = {
  success: "recorded",
  replayed: "recorded",
  never_topped_up: "never",
  no_answer: "undecided",
  proxy_error: "undecided",
  unavailable: "undecided",
  internal_error: "undecided",
  checkout_used: "undecided",
  rate_limited: "waiting",
  // It may answer a repeated request, whose first one is not known to the program.
  checkout_expired: "waiting",
  // The request must be corrected, and then counts.
  invalid_field: "nothing",
  amount_mismatch: "nothing",
  checkout_unknown: "nothing",
};

/** Ordered by what they prove. */
const PROOF: readonly Outcome[] = ["recorded", "never", "undecided", "refused", "waiting"];

const MET: Readonly<Record<Answering, readonly string[]>> = {
  nothing: ["no_answer"],
  half: ["no_answer"],
  late: ["no_answer", "success"],
  busy: ["unavailable"],
  proxy_page: ["proxy_error"],
  limited: ["rate_limited"],
};

/** @param practised calls in any order. */
export function practiceReport(practised: Practised): FaultResult[] {
  const orders = ordersOf(practised.calls);
  const topUps = new Map(practised.topUps.map((topUp) => [topUp.checkoutId, topUp]));
  return FAULTS.map((fault): FaultResult => {
    const tried = orders.filter(({ reqId }) => reqId === fault.name);
    const order = tried.findLast(({ calls }) => calls.some((call) => isTopUp(call) && meets(call, fault)));
    if (order === undefined) return notTried(fault.name);
    const earlier = tried.slice(0, tried.indexOf(order));
    const before = earlier.findLast(({ bouquetId }) => bouquetId === order.bouquetId);
    return resultOf(fault, order, before, topUps.get(order.checkoutId), practised);
  });
}

function notTried(fault: string): FaultResult {
  const nothing = { checkoutId: undefined, recorded: "no", listed: undefined, broken: [], calls: [] } as const;
  return { fault, verdict: "not_tried", ...nothing };
}

/** Whether a top-up got the fault for an answer. */
function meets({ outcome }: TrialCall, { failing, refusal }: Fault): boolean {
  return failing === undefined ? outcome === (refusal ?? "success") : MET[failing.answering].includes(outcome);
}

/** The orders of the practice customer, oldest first. */
function ordersOf(calls: readonly TrialCall[]): Order[] {
  // Stable: calls of one millisecond stay in the order in which they ended.
  const sorted = calls.toSorted((a, b) => a.at - b.at);
  const byCheckout = new Map<string, TrialCall[]>();
  for (const call of sorted) {
    const { checkoutId = "" } = call;
    byCheckout.set(checkoutId, byCheckout.get(checkoutId) ?? []);
    byCheckout.get(checkoutId)?.push(call);
  }
  return [...byCheckout].flatMap(([checkoutId, its]) => {
    const first = its.find((call) => isTopUp(call) && call.cuid === PRACTICE_CUID);
    if (first === undefined) return [];
    return [{ checkoutId, reqId: first.reqId, bouquetId: first.bouquetId, from: first.at, calls: its }];
  });
}

function isTopUp({ operation }: TrialCall): boolean {
  return operation === TOP_UP_OPERATION;
}

function resultOf(
  fault: Fault,
  order: Order,
  before: Order | undefined,
  topUp: Transaction | undefined,
  { list, now }: Practised,
): FaultResult {
  const outcome = outcomeAt(order.calls, Number.POSITIVE_INFINITY);
  const recorded = topUp?.status ?? "no";
  const listed = list?.get(order.checkoutId);
  const wrongBooks = list && bookProblem(listed, recorded, outcome);
  const broken = [
    paidTwice(order, before),
    changedRequest(order),
    sentAgain(order),
    tooFast(order),
    // A partner that has closed its books has not given up: it has decided wrongly.
    wrongBooks === undefined ? givenUp(order, now) : brokenBy("wrong_books", order.calls.slice(-1), wrongBooks),
  ].filter((each) => each !== undefined);
  const isDecided = outcome !== "undecided" && outcome !== "waiting";
  // Only the list shows whether a partner has noticed a reversal.
  const isReversalSeen = fault.reversedAfterMs === undefined || (recorded === "reversed" && listed === "refunded");
  const isOpen = !isDecided || listed === "open" || !isReversalSeen;
  const verdict = broken.length > 0 ? "failed" : isOpen ? "open" : "passed";
  const { checkoutId, calls } = order;
  return { fault: fault.name, verdict, checkoutId, recorded, listed, broken, calls };
}

function brokenBy(rule: PracticeRule, calls: readonly TrialCall[], detail?: string): BrokenRule {
  return { rule, detail, calls };
}

/** The outcome that the answers up to a time prove. */
function outcomeAt(calls: readonly TrialCall[], at: Instant): Outcome {
  const shown = calls
    .filter((call) => call.at <= at)
    .flatMap((call) => {
      const hasEnded = endOf(call) <= at + TOLERANCE_MS;
      const shows = hasEnded ? (SHOWN[call.outcome] ?? "refused") : "undecided";
      if (shows === "nothing") return [];
      return isTopUp(call) || shows === "recorded" || shows === "never" ? [shows] : [];
    });
  return PROOF.find((outcome) => shown.includes(outcome)) ?? "waiting";
}

function endOf({ at, ms }: TrialCall): Instant {
  return at + ms;
}

function paidTwice({ from, calls }: Order, before: Order | undefined): BrokenRule | undefined {
  if (before === undefined || outcomeAt(before.calls, from) !== "undecided") return undefined;
  const lastBefore = before.calls.findLast((call) => call.at <= from);
  const first = calls.find(isTopUp);
  return brokenBy(
    "may_be_paid_twice",
    [lastBefore, first].filter((call) => call !== undefined),
  );
}

function changedRequest({ calls }: Order): BrokenRule | undefined {
  const sent = calls.find((call) => isTopUp(call) && SHOWN[call.outcome] !== "nothing");
  if (sent === undefined) return undefined;
  const repeats = calls.slice(calls.indexOf(sent) + 1).filter(isTopUp);
  const changed = repeats.find((call) => fieldsOf(call) !== fieldsOf(sent));
  return changed && brokenBy("changed_request", [sent, changed]);
}

/** The fields that a repetition must not change. */
function fieldsOf({ cuid, service, reqId, bouquetId, amount }: TrialCall): string {
  // 1130, 1130.0 and 1130.00 are the same amount.
  const amountInShort = amount?.replace(/(\.[0-9]*?)0+$/, "$1").replace(/\.$/, "");
  return JSON.stringify([cuid, service, reqId, bouquetId, amountInShort]);
}

function sentAgain({ calls }: Order): BrokenRule | undefined {
  const isFinal = ({ outcome }: TrialCall) => outcome === "insufficient_balance" || outcome === "limit_reached";
  const refused = calls.find((call) => isTopUp(call) && isFinal(call));
  const again = refused && calls.find((call) => isTopUp(call) && call.at > endOf(refused) + TOLERANCE_MS);
  return again && brokenBy("sent_again", [refused, again]);
}

function givenUp({ calls }: Order, now: Instant): BrokenRule | undefined {
  let end = 0;
  for (const [index, call] of calls.entries()) {
    end = Math.max(end, endOf(call));
    const next = calls[index + 1];
    const until = next?.at ?? now;
    if (until - end <= GIVEN_UP_MS) continue;
    const outcome = outcomeAt(calls.slice(0, index + 1), until);
    if (outcome === "undecided" || outcome === "waiting")
      return brokenBy("given_up", next === undefined ? [call] : [call, next]);
  }
  return undefined;
}

function tooFast({ calls }: Order): BrokenRule | undefined {
  for (const [index, call] of calls.entries()) {
    if (call.retryAfter !== undefined) {
      // A call before `from` was sent before this answer.
      const from = endOf(call) - TOLERANCE_MS;
      const until = from + call.retryAfter * 1000;
      const early = calls.slice(index + 1).find(({ at }) => at >= from && at < until);
      if (early !== undefined) return brokenBy("too_fast", [call, early]);
    }
    const sixth = calls[index + MOST_CALLS_A_SECOND];
    if (sixth !== undefined && sixth.at - call.at < 1000)
      return brokenBy("too_fast", calls.slice(index, index + MOST_CALLS_A_SECOND + 1));
  }
  return undefined;
}

/** Why the partner's line for a top-up is wrong; undefined if it is right. */
function bookProblem(
  listed: ListedOutcome | undefined,
  recorded: FaultResult["recorded"],
  outcome: Outcome,
): string | undefined {
  if (listed === undefined) return "The list does not have this checkoutId.";
  if (listed === "paid" && recorded === "no") return "The list says paid, but no top-up is recorded.";
  if (listed === "paid" && recorded === "reversed") return "The list says paid, but the provider reversed the top-up.";
  if (listed !== "refunded" || recorded === "reversed") return undefined;
  if (recorded === "success") return "The list says refunded, but the top-up is recorded.";
  if (outcome === "never" || outcome === "refused") return undefined;
  return "The list says refunded, but txn-status has not said never_topped_up.";
}
