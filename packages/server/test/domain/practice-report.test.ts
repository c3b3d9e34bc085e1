import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FAULTS, PRACTICE_CUID, TOP_UP_OPERATION, type TrialCall } from "../../src/domain/practice.ts";
import { type FaultResult, type ListedOutcome, practiceReport } from "../../src/domain/practice-report.ts";
import type { Transaction } from "../../src/domain/transaction.ts";

const NOW = Date.UTC(2026, 10, 20, 12);
const SECOND = 1_000;
const HOUR = 3_600_000;
const FIELDS = {
  ...{ ms: 5, partnerId: 1, version: "v1.0.1", cuid: PRACTICE_CUID, service: "internet", checkoutId: "a" },
  ...{ bouquetId: "NET", amount: "1130", retryAfter: undefined, requestId: "r" },
} as const;

type More = Partial<TrialCall>;

/** Makes the calls of a story. Each call is so many seconds after the first one. */
function story(reqId: string) {
  const calls: TrialCall[] = [];
  const add = (seconds: number, operation: string, outcome: string, more: More) => {
    const retryAfter = outcome === "unavailable" || outcome === "rate_limited" ? 2 : undefined;
    calls.push({ ...FIELDS, reqId, at: NOW + seconds * SECOND, operation, outcome, retryAfter, ...more });
  };
  const told = {
    calls,
    sends: (seconds: number, outcome: string, more: More = {}) => {
      add(seconds, TOP_UP_OPERATION, outcome, more);
      return told;
    },
    asks: (seconds: number, outcome: string, more: More = {}) => {
      const ofTopUp = {
        cuid: undefined,
        service: undefined,
        reqId: undefined,
        bouquetId: undefined,
        amount: undefined,
      };
      add(seconds, "txn-status", outcome, { ...ofTopUp, ...more });
      return told;
    },
  };
  return told;
}

interface Found {
  readonly listed?: ListedOutcome | "missing";
  readonly recorded?: readonly string[];
  readonly status?: Transaction["status"];
  readonly afterMs?: number;
}

/** The result of the fault that a story is about. */
function resultOf({ calls }: { calls: readonly TrialCall[] }, found: Found = {}): FaultResult {
  const { listed, recorded = [], status = "success", afterMs = 10 * 60_000 } = found;
  const topUps = recorded.map((checkoutId) => ({ checkoutId, status }) as Transaction);
  const list = listed && new Map(listed === "missing" ? [] : [["a", listed]]);
  const fault = calls.find(({ operation }) => operation === TOP_UP_OPERATION)?.reqId;
  const results = practiceReport({ calls: calls.toReversed(), topUps, list, now: NOW + afterMs });
  expect(results.map((result) => result.fault)).toEqual(FAULTS.map(({ name }) => name));
  return results.find((result) => result.fault === fault) as FaultResult;
}

const rulesOf = ({ broken }: FaultResult) => broken.map(({ rule }) => rule);

describe("a correct program", () => {
  const lost = () => story("lost-after").sends(0, "no_answer");
  test.each<[string, ReturnType<typeof story>, Found]>([
    ["asks", lost().asks(2, "success"), { recorded: ["a"], listed: "paid" }],
    ["asks by a clock that is ahead of the report's", lost().asks(601, "success"), { recorded: ["a"], listed: "paid" }],
    ["sends the same again", lost().sends(2, "replayed"), { recorded: ["a"], listed: "paid" }],
    ["writes the amount in another way", lost().sends(2, "replayed", { amount: "1130.00" }), { recorded: ["a"] }],
    [
      "asks while the answer is late",
      story("slow").sends(0, "no_answer", { ms: 40_000 }).asks(30, "success"),
      { recorded: ["a"] },
    ],
    ["waits 40 seconds", story("slow").sends(0, "success", { ms: 40_000 }), { recorded: ["a"], listed: "paid" }],
    [
      "waits as long as Retry-After says",
      story("busy-before").sends(0, "unavailable").sends(2.1, "unavailable").sends(4.2, "success"),
      { recorded: ["a"] },
    ],
    [
      "asks until the answer is final",
      story("undecided")
        .sends(0, "no_answer")
        .asks(2, "not_topped_up")
        .sends(3, "checkout_expired")
        .asks(61, "never_topped_up"),
      { listed: "refunded" },
    ],
    [
      "refunds after never_topped_up",
      story("expired").sends(0, "checkout_expired").asks(1, "never_topped_up"),
      { listed: "refunded" },
    ],
    ["refunds a refused top-up", story("withdrawn").sends(0, "bouquet_unavailable"), { listed: "refunded" }],
    [
      "lists again after a deposit",
      story("short")
        .sends(-9, "insufficient_balance", { checkoutId: "b" })
        .asks(-8, "never_topped_up", { checkoutId: "b" })
        .sends(0, "insufficient_balance"),
      { listed: "refunded" },
    ],
    [
      "sent two requests at once",
      story("day-limit").sends(0, "limit_reached").sends(0.1, "limit_reached").asks(1, "never_topped_up"),
      { listed: "refunded" },
    ],
    [
      "starts again after a refusal",
      story("withdrawn").sends(0, "bouquet_unavailable").sends(1, "bouquet_unavailable", { checkoutId: "b" }),
      {},
    ],
    [
      "starts again after a refusal, and repeats the refused request later",
      story("withdrawn")
        .sends(-5, "bouquet_unavailable", { checkoutId: "b" })
        .sends(0, "bouquet_unavailable")
        .sends(3, "bouquet_unavailable", { checkoutId: "b" }),
      {},
    ],
    [
      "starts again after 429, which says that nothing is recorded",
      story("limited").sends(-5, "rate_limited", { checkoutId: "b" }).sends(0, "rate_limited").sends(3, "success"),
      {},
    ],
    [
      "starts again after the final answer",
      lost().sends(-9, "no_answer", { checkoutId: "b" }).asks(-7, "success", { checkoutId: "b" }).asks(2, "success"),
      { recorded: ["a", "b"], listed: "paid" },
    ],
    [
      "buys another bouquet meanwhile",
      lost().sends(-1, "no_answer", { checkoutId: "b", bouquetId: "TV" }).asks(2, "success"),
      { recorded: ["a"] },
    ],
    [
      "corrects a request",
      story("lost-after").sends(0, "amount_mismatch", { amount: "1" }).sends(1, "no_answer").asks(2, "success"),
      { recorded: ["a"] },
    ],
    [
      "shows a reversal",
      story("reversed").sends(0, "success").asks(12, "success"),
      { recorded: ["a"], status: "reversed", listed: "refunded" },
    ],
    [
      "calls five times in a second",
      [0.1, 0.3, 0.5, 0.7].reduce((each, at) => each.asks(at, "not_topped_up"), lost()).asks(2, "success"),
      {},
    ],
  ])("%s, and passes", (_, calls, found) => {
    expect(resultOf(calls, found)).toMatchObject({ verdict: "passed", broken: [] });
  });
});

describe("a rule is broken, and no other", () => {
  const lost = () => story("lost-before").sends(0, "no_answer");
  test.each<[string, ReturnType<typeof story>, Found, string, readonly number[]]>([
    [
      "a new checkoutId after a lost answer",
      lost().sends(-5, "no_answer", { checkoutId: "b" }),
      {},
      "may_be_paid_twice",
      [1, 0],
    ],
    [
      "a new checkoutId after not_topped_up",
      lost().sends(-5, "no_answer", { checkoutId: "b" }).asks(-2, "not_topped_up", { checkoutId: "b" }),
      {},
      "may_be_paid_twice",
      [2, 0],
    ],
    [
      "a new checkoutId while the answer is late",
      story("slow").sends(0, "no_answer", { ms: 30_000 }).sends(-5, "success", { checkoutId: "b", ms: 40_000 }),
      {},
      "may_be_paid_twice",
      [1, 0],
    ],
    [
      "a new checkoutId after 429 for a lost top-up",
      lost().sends(-9, "no_answer", { checkoutId: "b" }).sends(-5, "rate_limited", { checkoutId: "b" }),
      {},
      "may_be_paid_twice",
      [2, 0],
    ],
    [
      "a new checkoutId before the final answer for the last one",
      lost().sends(-5, "no_answer", { checkoutId: "b" }).asks(3, "success", { checkoutId: "b" }),
      {},
      "may_be_paid_twice",
      [1, 0],
    ],
    ["another amount", lost().sends(3, "amount_mismatch", { amount: "1131" }), {}, "changed_request", [0, 1]],
    ["another bouquet", lost().sends(3, "checkout_used", { bouquetId: "TV" }), {}, "changed_request", [0, 1]],
    ["another customer", lost().sends(3, "checkout_mismatch", { cuid: "1000001" }), {}, "changed_request", [0, 1]],
    [
      "the same again after insufficient_balance",
      story("short").sends(0, "insufficient_balance").asks(1, "never_topped_up").sends(60, "insufficient_balance"),
      {},
      "sent_again",
      [0, 2],
    ],
    [
      "the same again after limit_reached",
      story("day-limit").sends(0, "limit_reached").sends(60, "limit_reached").sends(120, "limit_reached"),
      { listed: "refunded" },
      "sent_again",
      [0, 1],
    ],
    ["paid, but refused", story("short").sends(0, "insufficient_balance"), { listed: "paid" }, "wrong_books", [0]],
    ["no call after a lost answer", lost(), { afterMs: HOUR + SECOND }, "given_up", [0]],
    ["no call after not_topped_up", lost().asks(2, "not_topped_up"), { afterMs: 2 * HOUR }, "given_up", [1]],
    ["a call after more than an hour", lost().asks(3_601, "success"), { afterMs: 2 * HOUR }, "given_up", [0, 1]],
    ["no call after 429", story("limited").sends(0, "rate_limited"), { afterMs: 2 * HOUR }, "given_up", [0]],
    [
      "no question after checkout_used",
      story("limited").sends(0, "rate_limited").sends(3, "checkout_used"),
      { afterMs: 2 * HOUR },
      "given_up",
      [1],
    ],
    [
      "no question after expired",
      story("expired").sends(0, "checkout_expired"),
      { afterMs: 2 * HOUR },
      "given_up",
      [0],
    ],
    [
      "a repetition before Retry-After",
      story("busy-after").sends(0, "unavailable").sends(1, "replayed"),
      {},
      "too_fast",
      [0, 1],
    ],
    [
      "a question before Retry-After",
      story("limited").sends(0, "rate_limited").asks(0.5, "not_topped_up").sends(3, "success"),
      {},
      "too_fast",
      [0, 1],
    ],
    [
      "six calls in a second",
      [0.1, 0.3, 0.5, 0.7, 0.9].reduce((each, at) => each.asks(at, "not_topped_up"), lost()),
      {},
      "too_fast",
      [0, 1, 2, 3, 4, 5],
    ],
    ["refunded, but recorded", lost().sends(3, "success"), { recorded: ["a"], listed: "refunded" }, "wrong_books", [1]],
    ["refunded after 503", story("busy-before").sends(0, "unavailable"), { listed: "refunded" }, "wrong_books", [0]],
    ["refunded on not_topped_up", lost().asks(2, "not_topped_up"), { listed: "refunded" }, "wrong_books", [1]],
    [
      "refunded on checkout_expired",
      story("expired").sends(0, "checkout_expired"),
      { listed: "refunded" },
      "wrong_books",
      [0],
    ],
    [
      "refunded after a lost answer and a refusal",
      lost().sends(2, "bouquet_unavailable"),
      { listed: "refunded", afterMs: 2 * HOUR },
      "wrong_books",
      [1],
    ],
    ["paid, but not recorded", lost(), { listed: "paid", afterMs: 2 * HOUR }, "wrong_books", [0]],
    [
      "paid, but reversed",
      story("reversed").sends(0, "success"),
      { recorded: ["a"], status: "reversed", listed: "paid" },
      "wrong_books",
      [0],
    ],
    [
      "refunded, but not reversed yet",
      story("reversed").sends(0, "success"),
      { recorded: ["a"], listed: "refunded" },
      "wrong_books",
      [0],
    ],
    ["not in the list", lost().sends(3, "success"), { recorded: ["a"], listed: "missing" }, "wrong_books", [1]],
  ])("%s", (_, { calls }, found, rule, proof) => {
    const result = resultOf({ calls }, found);
    expect([result.verdict, ...rulesOf(result)]).toEqual(["failed", rule]);
    expect(result.broken[0]?.calls).toEqual(proof.map((index) => calls[index]));
  });
});

describe("a fault is open", () => {
  const lost = () => story("lost-after").sends(0, "no_answer");
  test.each<[string, ReturnType<typeof story>, Found]>([
    ["while a lost top-up is undecided", lost(), { recorded: ["a"], listed: "paid" }],
    ["while the list says open", lost().asks(2, "success"), { recorded: ["a"], listed: "open" }],
    [
      "while the top-up is not reversed yet",
      story("reversed").sends(0, "success"),
      { recorded: ["a"], listed: "paid" },
    ],
    [
      "while no list shows the reversal",
      story("reversed").sends(0, "success"),
      { recorded: ["a"], status: "reversed" },
    ],
  ])("%s", (_, calls, found) => {
    expect(resultOf(calls, found)).toMatchObject({ verdict: "open", broken: [] });
  });
});

test("a fault is not tried before a top-up has met it", () => {
  const unmet = story("lost-before").sends(0, "success").sends(1, "checkout_expired", { checkoutId: "b" });
  expect(resultOf(unmet).verdict).toBe("not_tried");
  const none = practiceReport({ calls: [], topUps: [], list: undefined, now: NOW });
  expect(new Set(none.map(({ verdict }) => verdict))).toEqual(new Set(["not_tried"]));
});

test("a top-up of another customer is no practice", () => {
  const calls = story("lost-before").sends(0, "no_answer", { cuid: "1000001" });
  expect(resultOf(calls, { listed: "refunded" }).verdict).toBe("not_tried");
});

test("a report says why the books are wrong", () => {
  const sent = story("lost-after").sends(0, "no_answer").asks(2, "success");
  const why = (found: Found) => resultOf(sent, found).broken[0]?.detail;
  expect(why({ recorded: ["a"], listed: "refunded" })).toBe("The list says refunded, but the top-up is recorded.");
  expect(why({ listed: "paid" })).toBe("The list says paid, but no top-up is recorded.");
  expect(why({ recorded: ["a"], listed: "missing" })).toBe("The list does not have this checkoutId.");
});

test("the last top-up of a fault counts", () => {
  const twice = story("lost-before")
    .sends(-9, "no_answer", { checkoutId: "b" })
    .sends(-5, "success", { checkoutId: "b", amount: "1" });
  expect(resultOf(twice.sends(0, "no_answer").sends(3, "success"))).toMatchObject({
    verdict: "passed",
    checkoutId: "a",
  });
});

test("the order in which calls are noted changes nothing", () => {
  const outcomes = [
    "success",
    "replayed",
    "no_answer",
    "unavailable",
    "rate_limited",
    "checkout_expired",
    "never_topped_up",
  ];
  const call = fc.record({
    at: fc.integer({ min: NOW, max: NOW + 2 * HOUR }),
    operation: fc.constantFrom(TOP_UP_OPERATION, "txn-status"),
    outcome: fc.constantFrom(...outcomes),
    checkoutId: fc.constantFrom("a", "b", "c"),
    ms: fc.nat(40_000),
  });
  const calls = fc.uniqueArray(call, { selector: ({ at }) => at, maxLength: 20 });
  fc.assert(
    fc.property(calls, fc.infiniteStream(fc.nat()), (some, order) => {
      const all = some.map((each) => ({ ...FIELDS, reqId: "lost-after", ...each }));
      const mixed = all.map((each) => [order.next().value, each] as const).sort(([a], [b]) => a - b);
      const report = (given: readonly TrialCall[]) =>
        practiceReport({ calls: given, topUps: [], list: undefined, now: NOW + 3 * HOUR });
      expect(report(mixed.map(([, each]) => each))).toEqual(report(all));
    }),
  );
});
