import { describe, expect, test } from "vitest";
import { DONE, FOUND, NEVER, NOT_YET, QUERY, TOP_UP, topUp } from "./support/told.ts";
import { failure, otherFailure, page, RESULT, recorded } from "./support/wire.ts";

describe("a result on record", () => {
  test.each([
    ["bouquetId", { bouquetId: "OTHER" }],
    ["amt", { amt: 1290.01 }],
    ["cuid", { cuid: "01000003" }],
    ["reqId", { reqId: "100000000003" }],
    ["service", { service: "iptv" }],
  ])("with another %s is never this purchase's success", async (name, changes) => {
    const { outcome } = await topUp([failure("400ab103"), recorded(changes)]);
    expect(outcome).toMatchObject({
      outcome: "refused",
      failure: {
        kind: "used_otherwise",
        differs: [name],
        recorded: { ...RESULT, ...changes, amt: String({ amt: 1290, ...changes }.amt) },
      },
    });
  });

  test.each([["reset", false] as const, ["hang", false] as const, [undefined, true] as const])(
    "with other values may be ours, written another way, unless topupd itself has said otherwise (%s)",
    async (lost, resumed) => {
      const { outcome } = await topUp([...(lost ? [lost] : []), recorded({ service: "TV" })], { resumed });
      expect(outcome).toMatchObject({
        outcome: "undecided",
        next: { do: "ask_provider" },
        failure: { kind: "used_otherwise", differs: ["service"] },
      });
    },
  );

  test("that topupd speaks of in one answer, and denies for ever in the next, is a matter for the provider", async () => {
    const { outcome } = await topUp([failure("400ab103"), NEVER]);
    expect(outcome).toMatchObject({ outcome: "undecided", next: { do: "ask_provider" } });
  });

  test.each([1290, "1290", "1290.0", "1290.00"])("with the amount %j is the one of 1290.00", async (amt) => {
    expect(await topUp(["reset", recorded({ amt })])).toMatchObject({ outcome: FOUND });
  });

  test("with other values in the answer to the top-up itself is asked about, and then left to the provider", async () => {
    const other = recorded({ amt: 1300 });
    const { outcome, sent } = await topUp([other, other]);
    expect(outcome).toMatchObject({
      outcome: "undecided",
      next: { do: "ask_provider" },
      failure: { kind: "used_otherwise" },
    });
    expect(sent).toEqual([TOP_UP, QUERY]);
    expect(await topUp([other, recorded()])).toMatchObject({ outcome: FOUND });
  });

  test.each(["pending", "failed", "SUCCESS", "initiated"])(
    "with the status %s is neither success nor failure",
    async (status) => {
      const { outcome, sent } = await topUp([recorded({ status })]);
      expect(outcome).toMatchObject({
        outcome: "undecided",
        next: { do: "query_again" },
        failure: { kind: "unsettled", recorded: { status } },
      });
      expect(sent.filter((operation) => operation === TOP_UP)).toHaveLength(1);
      expect(await topUp([recorded({ status }), recorded({ status }), recorded()])).toMatchObject({ outcome: FOUND });
    },
  );

  test("that disappears again is a matter for the provider, and nothing is sent again", async () => {
    const { outcome, sent } = await topUp(["hang", recorded({ status: "pending" }), NOT_YET, NEVER]);
    expect(outcome).toMatchObject({ outcome: "undecided", next: { do: "ask_provider" } });
    expect(sent).toEqual([TOP_UP, QUERY, QUERY, QUERY]);
  });
});

describe("a first refusal of another shape", () => {
  const shapes = [otherFailure(400), otherFailure(200), otherFailure(404), otherFailure(401)] as const;
  const pages = [page(400), page(403), page(404)] as const;

  test("is final when txn-status has borne it out twice, with half a minute in between", async () => {
    for (const shape of shapes) {
      for (const answer of [otherFailure(404), otherFailure(200)]) {
        const { outcome, sent, times } = await topUp([shape, answer]);
        expect(outcome).toMatchObject({
          outcome: "refused",
          failure: { kind: "refused_otherwise", operation: TOP_UP, httpStatus: shape.status },
        });
        expect(sent).toEqual([TOP_UP, QUERY, QUERY]);
        expect((times[2] as number) - (times[1] as number)).toBeGreaterThanOrEqual(30_000);
      }
    }
  });

  test("may mean that it is still being processed", async () => {
    const told = await topUp([otherFailure(200), otherFailure(200), recorded()]);
    expect(told).toMatchObject({ outcome: FOUND, sent: [TOP_UP, QUERY, QUERY] });
  });

  test("is not borne out by who answers nothing about the checkoutId", async () => {
    for (const shape of shapes) {
      const { outcome: unproved } = await topUp([shape, failure("400ab101")]);
      expect(unproved).toMatchObject({ outcome: "undecided", next: { do: "ask_provider" } });
      for (const answer of [failure("400ac003"), failure("400ad003"), otherFailure(401), page(403)]) {
        const { outcome, sent } = await topUp([shape, answer]);
        expect(outcome).toMatchObject({ outcome: "undecided", next: { do: "fix_request" } });
        expect(sent).toEqual([TOP_UP, QUERY]);
      }
      expect(await topUp([shape, page(404)])).toMatchObject({ outcome: { outcome: "undecided" } });
    }
  });

  test("was not topupd's, where topupd knows of nothing: it is sent again, and topupd decides", async () => {
    for (const shape of [...shapes, ...pages]) {
      const done = await topUp([shape, NOT_YET, recorded()]);
      expect(done).toMatchObject({ outcome: DONE, sent: [TOP_UP, QUERY, TOP_UP] });
    }
    for (const shape of shapes) {
      const { outcome, sent } = await topUp([shape, NOT_YET, shape, NOT_YET, NOT_YET, NEVER]);
      expect(outcome).toMatchObject({ outcome: "never_topped_up" });
      expect(sent).toEqual([TOP_UP, QUERY, TOP_UP, QUERY, QUERY, QUERY, QUERY]);
    }
  });

  test("that is a page of something on the way is no refusal at all", async () => {
    for (const shape of pages) {
      const { outcome, sent } = await topUp([shape, otherFailure(404)]);
      expect(outcome).toMatchObject({ outcome: "undecided", next: { do: "ask_provider" } });
      expect(sent.filter((operation) => operation === TOP_UP)).toHaveLength(1);
    }
  });

  test("that is followed by a result which nobody can read stays open", async () => {
    const { outcome } = await topUp([otherFailure(400), recorded({ status: "pending" }), otherFailure(404)]);
    expect(outcome).toMatchObject({ outcome: "undecided" });
  });

  test("is overruled by a result", async () => {
    for (const shape of shapes) expect(await topUp([shape, recorded()])).toMatchObject({ outcome: FOUND });
  });

  test("is not believed before txn-status has answered", async () => {
    const told = await topUp([otherFailure(400), "reset", page(502), failure("400ac006"), recorded()]);
    expect(told).toMatchObject({ outcome: FOUND, sent: [TOP_UP, QUERY, QUERY, QUERY, QUERY] });
    expect(await topUp([otherFailure(400), "reset"])).toMatchObject({ outcome: { outcome: "undecided" } });
  });
});

describe("too many requests", () => {
  test("on the first attempt were not processed: it waits as long as it is told, and sends", async () => {
    const seconds = await topUp([failure("400ac006", {}, { "retry-after": "17" }), recorded()]);
    expect(seconds).toMatchObject({ outcome: DONE, sent: [TOP_UP, TOP_UP], times: [0, 17_000] });
    const date = await topUp([failure("400ac006", {}, { "retry-after": "Fri, 20 Nov 2026 09:00:42 GMT" }), recorded()]);
    expect(date).toMatchObject({ outcome: DONE, sent: [TOP_UP, TOP_UP], times: [0, 42_000] });
  });

  test("of somebody else's may have been processed all the same: it asks before it sends again", async () => {
    const limited = page(429, { "retry-after": "42" });
    const processed = await topUp([limited, recorded()]);
    expect(processed).toMatchObject({ outcome: FOUND, sent: [TOP_UP, QUERY], times: [0, 42_000] });
    const turnedAway = await topUp([limited, NOT_YET, recorded()]);
    expect(turnedAway).toMatchObject({ outcome: DONE, sent: [TOP_UP, QUERY, TOP_UP] });
    const elsewhere = await topUp([limited, otherFailure(404)]);
    expect(elsewhere).toMatchObject({ outcome: { outcome: "refused", failure: { httpStatus: 429 } } });
    expect(elsewhere.sent).toEqual([TOP_UP, QUERY, QUERY]);
  });

  test("leave a later refusal as certain as a first one", async () => {
    const { outcome } = await topUp([failure("400ac006"), failure("400ab106"), NOT_YET]);
    expect(outcome).toMatchObject({ outcome: "refused", failure: { reason: "amount_mismatch" } });
  });

  test("until the end are a refusal: nothing was ever processed", async () => {
    const { outcome } = await topUp([failure("400ac006")]);
    expect(outcome).toMatchObject({ outcome: "refused", failure: { reason: "rate_limited" } });
  });

  test("that ask for more time than there is are not waited for", async () => {
    const { outcome, sent } = await topUp([failure("400ac006", {}, { "retry-after": "3600" })]);
    // Nobody is told to wait for longer than ten minutes.
    expect(outcome).toMatchObject({ outcome: "refused", failure: { retryAfterMs: 600_000 } });
    expect(sent).toEqual([TOP_UP]);
  });

  test("after a lost answer leave it open, for as long as they say", async () => {
    const { outcome } = await topUp(["hang", failure("400ac006", {}, { "retry-after": "500" })]);
    expect(outcome).toMatchObject({ outcome: "undecided", next: { do: "query_again", afterMs: 500_000 } });
  });
});
