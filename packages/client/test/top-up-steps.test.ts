import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Answer, type Failure, type FailureCode, KNOWN_FAILURES, type TransactionResult } from "../src/index.ts";
import { toWire } from "../src/purchase.ts";
import { afterQuery, afterTopUp, begin, giveUp, type Move } from "../src/top-up-steps.ts";
import { asksToWait } from "../src/verdicts.ts";
import { PURCHASE, RESULT } from "./support/wire.ts";

/*
 * The decisions under any answers in any order, also such as no deployment would give: one that contradicts itself
 * may cost time, but not money.
 */

const answered = {
  operation: "txn-status",
  headers: {},
  requestId: undefined,
  retryAfterMs: undefined,
  message: "",
} as const;
const details = { fields: undefined, missing: undefined, limit: undefined, limitEndsAt: undefined };
const known = fc
  .constantFrom(...(Object.keys(KNOWN_FAILURES) as FailureCode[]))
  .map((code): Failure => ({ kind: "refused", ...answered, code, ...KNOWN_FAILURES[code], ...details }));
/** Often enough that it comes twice. */
const never = fc.constant<Failure>({
  kind: "refused",
  ...answered,
  code: "400ab108",
  ...KNOWN_FAILURES["400ab108"],
  ...details,
});
const httpStatus = fc.constantFrom(200, 302, 400, 401, 403, 404, 408, 409, 429, 500, 502, 503);
const failure: fc.Arbitrary<Failure> = fc.oneof(
  known,
  fc.tuple(httpStatus, fc.boolean()).map(
    ([status, inEnvelope]): Failure => ({
      kind: "refused_otherwise",
      inEnvelope,
      ...answered,
      httpStatus: status,
      code: "E",
      retry: undefined,
      body: {},
    }),
  ),
  httpStatus.map((status): Failure => ({ kind: "unreadable", ...answered, httpStatus: status, text: "" })),
  fc
    .constantFrom("timeout", "network")
    .map((why): Failure => ({ kind: "no_answer", operation: "txn-status", message: "", why, cause: undefined })),
);
const result = fc.constantFrom({}, {}, { amt: "1" }, { status: "pending" }, { status: "reversed" }, { bouquetId: "X" });
const answer: fc.Arbitrary<Answer<TransactionResult>> = fc.oneof(
  { weight: 4, arbitrary: fc.oneof(failure, never).map((value) => ({ ok: false as const, failure: value })) },
  {
    weight: 1,
    arbitrary: result.map((changes) => ({
      ok: true as const,
      value: { ...RESULT, ...changes },
      requestId: "",
      replayed: false,
    })),
  },
);
const story = fc.record({
  answers: fc.array(answer, { maxLength: 30 }),
  resumed: fc.boolean(),
  repeatsAreSafe: fc.boolean(),
});

type Told = { readonly asked: "send" | "query"; readonly answer: Answer<TransactionResult> };

/** Follows the steps to the end, or to where the answers run out. */
function follow({ answers, resumed, repeatsAreSafe }: typeof story extends fc.Arbitrary<infer Value> ? Value : never) {
  let move: Move = begin(toWire(PURCHASE, "v1.0.1"), repeatsAreSafe, resumed);
  const told: Told[] = [];
  for (const one of answers) {
    if (move.step.do === "end") break;
    told.push({ asked: move.step.do, answer: one });
    move = (move.step.do === "send" ? afterTopUp : afterQuery)(move.state, one);
  }
  const isGivenUp = move.step.do !== "end";
  const outcome = move.step.do === "end" ? move.step.outcome : giveUp(move.state, 0);
  return { told, outcome, isGivenUp, resumed, repeatsAreSafe };
}

const isProof = ({ answer: one }: Told) =>
  one.ok && one.value.amt === RESULT.amt && one.value.bouquetId === RESULT.bouquetId;
const isNever = ({ asked, answer: one }: Told) =>
  asked === "query" && !one.ok && one.failure.kind === "refused" && one.failure.reason === "never_topped_up";
/** Nothing that the deployment itself says of the checkoutId. */
const isSilent = ({ asked, answer: one }: Told) => asked === "query" && !one.ok && asksToWait(one.failure);
const isRefusal = ({ answer: one }: Told) =>
  !one.ok && one.failure.kind !== "no_answer" && one.failure.kind !== "unreadable";

describe("whatever a deployment answers", () => {
  const always = (check: (followed: ReturnType<typeof follow>) => void) =>
    fc.assert(
      fc.property(story, (one) => check(follow(one))),
      { numRuns: 3_000 },
    );

  test("success is said of a result with the purchase's values, and of the last answer only", () => {
    always(({ told, outcome }) => {
      if (outcome.outcome !== "topped_up") return;
      expect(told.at(-1)).toSatisfy(isProof);
      expect(outcome.result).toMatchObject({ amt: RESULT.amt, bouquetId: RESULT.bouquetId });
      expect(["success", "reversed"]).toContain(outcome.result.status);
    });
  });

  test("never is said where txn-status has said so twice, nothing else in between, and no result was shown", () => {
    let saidSo = 0;
    always(({ told, outcome }) => {
      if (outcome.outcome !== "never_topped_up") return;
      saidSo += 1;
      expect(told.at(-1)).toSatisfy(isNever);
      const before = told.slice(0, -1).findLastIndex((one) => isNever(one) || !isSilent(one));
      expect(told[before]).toSatisfy(isNever);
      expect(told.some((one) => one.answer.ok)).toBe(false);
    });
    expect(saidSo).toBeGreaterThan(0);
  });

  test("refused is said only while every top-up that was sent was refused, or for another's result", () => {
    always(({ told, outcome, isGivenUp, resumed }) => {
      if (outcome.outcome !== "refused" || outcome.failure.kind === "used_otherwise") return;
      expect(resumed).toBe(false);
      // txn-status has had its say, unless nothing was ever read.
      if (isGivenUp) expect(outcome.failure).toMatchObject({ reason: "rate_limited" });
      else expect(told.at(-1)).toMatchObject({ asked: "query", answer: { ok: false } });
      const sends = told.filter(({ asked }) => asked === "send");
      expect(sends.length).toBeGreaterThan(0);
      for (const one of sends) {
        expect(one).toSatisfy(isRefusal);
        expect(one.answer).not.toMatchObject({ failure: { retry: "query_status" } });
        expect(!one.answer.ok && "httpStatus" in one.answer.failure && one.answer.failure.httpStatus).toBeLessThan(500);
      }
    });
  });

  test("another's result is said only where topupd has refused the purchase for it", () => {
    always(({ told, outcome }) => {
      if (outcome.outcome !== "refused" || outcome.failure.kind !== "used_otherwise") return;
      const refusals = told.filter(({ asked }) => asked === "send").map(({ answer }) => answer);
      expect(refusals).toContainEqual(
        expect.objectContaining({ failure: expect.objectContaining({ code: "400ab103" }) }),
      );
    });
  });

  test("a top-up is sent again only after an answer that makes it safe", () => {
    always(({ told, repeatsAreSafe }) => {
      for (const [index, { asked }] of told.entries()) {
        if (asked !== "send" || index === 0) continue;
        const before = told[index - 1] as Told;
        const says = (one: object) => expect(before.answer).toMatchObject({ ok: false, failure: one });
        if (before.asked === "send") says({ httpStatus: 429 });
        else if (!repeatsAreSafe) says({ kind: "refused", reason: "not_topped_up" });
        else expect(before).toSatisfy(isRefusal);
      }
    });
  });

  test("nothing is sent again after a deployment has shown a result", () => {
    always(({ told }) => {
      const shown = told.findIndex((one) => one.answer.ok);
      if (shown >= 0) expect(told.slice(shown + 1).map(({ asked }) => asked)).not.toContain("send");
    });
  });
});
