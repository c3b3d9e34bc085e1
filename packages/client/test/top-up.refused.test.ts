import { describe, expect, test } from "vitest";
import { DONE, FOUND, NEVER, NOT_YET, QUERY, REFUSALS, TOP_UP, topUp } from "./support/told.ts";
import { failure, otherFailure, page, recorded } from "./support/wire.ts";

const UNKNOWN = failure("400ab101");
const LOCKS_OUT = REFUSALS.filter((code) => code.startsWith("400ac"));
const OF_EVERY_REQUEST = REFUSALS.filter((code) => /^400a[cd]/.test(code));
const OF_TOP_UPS_ONLY = REFUSALS.filter((code) => /^400a[ab]/.test(code) && code !== "400ab101");

describe("a first refusal by topupd", () => {
  test.each(REFUSALS)("(%s) is final when txn-status knows of nothing either", async (code) => {
    for (const answer of [NOT_YET, NEVER]) {
      const { outcome, sent, times } = await topUp([failure(code), answer]);
      expect(outcome).toMatchObject({ outcome: "refused", failure: { kind: "refused", operation: TOP_UP, code } });
      expect(sent).toEqual([TOP_UP, QUERY]);
      expect(times[1]).toBe(1_000);
    }
  });

  test.each(REFUSALS)("(%s) is not borne out by checkout_unknown, which proves nothing", async (code) => {
    const { outcome, sent } = await topUp([failure(code), UNKNOWN]);
    expect(outcome).toMatchObject({ outcome: "undecided", next: { do: "ask_provider" } });
    expect(sent).toEqual([TOP_UP, QUERY]);
  });

  test.each(REFUSALS)("(%s) is another purchase's where this one is on record", async (code) => {
    expect(await topUp([failure(code), recorded()])).toMatchObject({ outcome: FOUND, sent: [TOP_UP, QUERY] });
    const late = await topUp([failure(code), "reset", page(502), failure("400ac006"), failure("400ae002"), recorded()]);
    expect(late).toMatchObject({ outcome: FOUND });
  });

  test.each(OF_EVERY_REQUEST)("(%s) is final when txn-status is turned away for the same", async (code) => {
    const told = await topUp([failure(code)]);
    expect(told).toMatchObject({ outcome: { outcome: "refused", failure: { code } }, sent: [TOP_UP, QUERY] });
  });

  test("is final when the access token holds no more for either, whatever the reason", async () => {
    for (const code of LOCKS_OUT) {
      for (const answer of LOCKS_OUT) {
        expect(await topUp([failure(code), failure(answer)])).toMatchObject({ outcome: { outcome: "refused" } });
      }
    }
  });

  test("is not borne out by who answers nothing about the checkoutId", async () => {
    for (const answer of [failure("400ac004"), failure("400ac007"), otherFailure(401), page(403)]) {
      const { outcome, sent } = await topUp([failure("400ab106"), answer]);
      expect(outcome).toMatchObject({ outcome: "undecided", next: { do: "fix_request" } });
      expect(sent).toEqual([TOP_UP, QUERY]);
    }
    for (const answer of [page(403), otherFailure(401)]) {
      const { outcome } = await topUp([failure("400ac004"), answer]);
      expect(outcome).toMatchObject({ outcome: "undecided", next: { do: "fix_request" } });
    }
  });

  test.each([
    ["a reset", "reset" as const],
    ["nothing", "hang" as const],
    ["a page", page(502)],
    ["too many requests", failure("400ac006")],
    ["unavailable", failure("400ae002")],
  ])("is left open where txn-status says %s until the end", async (_, answer) => {
    const { outcome, sent } = await topUp([failure("400ab106"), answer]);
    expect(outcome).toMatchObject({ outcome: "undecided", next: { do: "query_again" } });
    expect(sent.filter((operation) => operation === TOP_UP)).toHaveLength(1);
  });

  test.each(OF_TOP_UPS_ONLY)(
    "is not borne out by another's refusal (%s) in place of txn-status's answer",
    async (code) => {
      const told = await topUp([failure("400ab106"), failure(code), recorded()]);
      expect(told).toMatchObject({ outcome: FOUND, sent: [TOP_UP, QUERY, QUERY] });
      const refused = await topUp([failure("400ab106"), failure(code), NOT_YET]);
      expect(refused.outcome).toMatchObject({ outcome: "refused", failure: { code: "400ab106" } });
    },
  );

  test("is not final while a result is shown that nobody can read", async () => {
    const { outcome } = await topUp([failure("400ab106"), recorded({ status: "pending" }), NOT_YET, NEVER]);
    expect(outcome).toMatchObject({ outcome: "undecided", next: { do: "ask_provider" } });
  });

  test("with another's result on record is a matter for the provider", async () => {
    const { outcome } = await topUp([failure("400ab106"), recorded({ amt: 450 })]);
    expect(outcome).toMatchObject({
      outcome: "undecided",
      next: { do: "ask_provider" },
      failure: { kind: "used_otherwise", differs: ["amt"] },
    });
  });

  test("that there was no time to bear out is left open, and settled when it is resumed", async () => {
    const short = await topUp([failure("400ab106")], { giveUpAfterMs: 900 });
    expect(short.outcome).toMatchObject({ outcome: "undecided", next: { do: "query_again" } });
    expect(short.sent).toEqual([TOP_UP]);
    const again = await topUp([NOT_YET, recorded()], { resumed: true });
    expect(again).toMatchObject({ outcome: DONE, sent: [QUERY, TOP_UP] });
  });

  test("of too many requests is none: nothing was read, and it is sent again", async () => {
    expect(await topUp([failure("400ac006"), recorded()])).toMatchObject({ outcome: DONE, sent: [TOP_UP, TOP_UP] });
  });
});
