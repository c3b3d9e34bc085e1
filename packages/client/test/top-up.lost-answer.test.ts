import { describe, expect, test } from "vitest";
import type { Scripted } from "./support/scripted.ts";
import { DONE, FOUND, NEVER, NOT_YET, QUERY, REFUSALS, TOP_UP, topUp } from "./support/told.ts";
import { failure, otherFailure, PURCHASE, page, RESULT, recorded, reply } from "./support/wire.ts";

/** After any of these nobody knows whether the top-up was recorded. */
const LOST: readonly (readonly [string, Scripted])[] = [
  ["a reset", "reset"],
  ["a timeout", "hang"],
  ["internal_error", failure("400ae001")],
  ["unavailable", failure("400ae002", { retry: "query_status" })],
  ["unavailable that asks for the same request", failure("400ae002")],
  ["checkout_used", failure("400ab103")],
  ["never_topped_up for a top-up", NEVER],
  ["a proxy's 502", page(502)],
  ["a proxy's 503", page(503)],
  ["a proxy's 504", page(504)],
  ["a proxy's 408", page(408)],
  ["another deployment's 409", otherFailure(409)],
  ["another deployment's 500", otherFailure(500)],
  ["a page with status 200", page(200)],
  ["a redirection", page(302)],
  ["broken JSON", { ...recorded(), text: recorded().text.slice(0, 40) }],
  ["broken JSON of a refusal", { ...failure("400ab106"), text: failure("400ab106").text.slice(0, 40) }],
  ["a result of another checkoutId", recorded({ orderId: "another" })],
  ["a result with an unknown status", recorded({ status: "pending" })],
  [
    "an answer of an unknown code that says query_status",
    reply(422, { success: false, code: "400ab199", body: { retry: "query_status" } }),
  ],
];

describe("a first answer", () => {
  test("with the result is a top-up", async () => {
    expect(await topUp([recorded()])).toMatchObject({ outcome: DONE, sent: [TOP_UP] });
  });

  test("with a replayed result is a top-up that had been recorded before", async () => {
    expect(await topUp([recorded({}, { "idempotent-replayed": "true" })])).toMatchObject({ outcome: FOUND });
  });

  test("with a reversed result is a top-up that was taken back, and says so", async () => {
    const { outcome } = await topUp([recorded({ status: "reversed" })]);
    expect(outcome).toEqual({ outcome: "topped_up", result: { ...RESULT, status: "reversed" }, replayed: false });
  });
});

describe("after a lost answer", () => {
  test.each(LOST)("(%s) txn-status is asked first, and a recorded result is the top-up", async (_, lost) => {
    expect(await topUp([lost, recorded()])).toMatchObject({ outcome: FOUND, sent: [TOP_UP, QUERY] });
  });

  test.each(LOST.filter(([what]) => !["a result with an unknown status", "checkout_used"].includes(what)))(
    "(%s) it is sent again only when txn-status knows that nothing is recorded",
    async (_, lost) => {
      const told = await topUp([lost, NOT_YET, recorded()]);
      expect(told).toMatchObject({ outcome: DONE, sent: [TOP_UP, QUERY, TOP_UP] });
    },
  );

  test.each(LOST.filter(([what]) => !["a result with an unknown status", "checkout_used"].includes(what)))(
    "(%s) never_topped_up is the end",
    async (_, lost) => {
      const { outcome } = await topUp([lost, "reset", NEVER]);
      expect(outcome).toMatchObject({ outcome: "never_topped_up", failure: { reason: "never_topped_up" } });
    },
  );

  test.each(REFUSALS)("a refusal of the repeat (%s) proves nothing", async (code) => {
    const late = await topUp(["reset", NOT_YET, failure(code), NOT_YET, NOT_YET, recorded()]);
    expect(late).toMatchObject({ outcome: FOUND, sent: [TOP_UP, QUERY, TOP_UP, QUERY, QUERY, QUERY] });
    const dead = await topUp(["reset", NOT_YET, failure(code), NEVER]);
    expect(dead).toMatchObject({ outcome: { outcome: "never_topped_up" } });
  });

  test("a refusal of the repeat in another shape proves nothing either", async () => {
    const { outcome, sent } = await topUp(["hang", NOT_YET, otherFailure(400), NOT_YET, recorded()]);
    expect(outcome).toEqual(FOUND);
    expect(sent).toEqual([TOP_UP, QUERY, TOP_UP, QUERY, QUERY]);
  });

  test("a repeat that found too many requests asks before it is sent again", async () => {
    const { sent, outcome } = await topUp(["hang", NOT_YET, failure("400ac006"), NOT_YET, recorded()]);
    expect(sent).toEqual([TOP_UP, QUERY, TOP_UP, QUERY, TOP_UP]);
    expect(outcome).toEqual(DONE);
  });

  test.each([
    ["a page", page(404), "query_again"],
    ["an unknown code", otherFailure(404), "ask_provider"],
    ["an unknown code with status 200", otherFailure(200), "ask_provider"],
    ["topupd's code with another reason", failure("400ab107", { reason: "not_found" }), "query_again"],
    ["never_topped_up's code with another reason", failure("400ab108", { reason: "gone" }), "ask_provider"],
    ["a server error", page(500), "query_again"],
    ["a reset", "reset" as const, "query_again"],
    ["a page with status 200", page(200), "query_again"],
  ])("txn-status that says %s is no proof, and nothing is sent again", async (_, answer, next) => {
    const { outcome, sent } = await topUp(["hang", answer]);
    expect(outcome).toMatchObject({ outcome: "undecided", next: { do: next, checkoutId: PURCHASE.checkoutId } });
    expect(sent.filter((operation) => operation === TOP_UP)).toHaveLength(1);
    expect(sent.length).toBeGreaterThan(10);
  });

  test("another deployment's no to txn-status allows a repeat where repeats are declared safe", async () => {
    const told = await topUp(["hang", otherFailure(404), recorded()], { repeatsAreSafe: true });
    expect(told).toMatchObject({ outcome: DONE, sent: [TOP_UP, QUERY, TOP_UP] });
  });

  test("a broken answer of txn-status allows no repeat even then", async () => {
    const { sent } = await topUp(["hang", page(502)], { repeatsAreSafe: true });
    expect(sent.filter((operation) => operation === TOP_UP)).toHaveLength(1);
  });

  test("an access token that is refused meanwhile leaves it open", async () => {
    for (const answer of [failure("400ac004"), failure("400ac005"), otherFailure(401), page(403)]) {
      const { outcome, sent } = await topUp(["hang", answer]);
      expect(outcome).toMatchObject({
        outcome: "undecided",
        next: { do: "fix_request" },
        failure: { httpStatus: answer.status },
      });
      expect(sent).toEqual([TOP_UP, QUERY]);
    }
  });

  test("a checkoutId that txn-status does not know is a matter for the provider", async () => {
    const { outcome } = await topUp(["hang", failure("400ab101")]);
    expect(outcome).toMatchObject({
      outcome: "undecided",
      next: { do: "ask_provider" },
      failure: { reason: "checkout_unknown" },
    });
  });
});
