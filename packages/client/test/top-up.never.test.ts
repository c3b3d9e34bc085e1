import { describe, expect, test } from "vitest";
import type { Scripted } from "./support/scripted.ts";
import { FOUND, NEVER, NOT_YET, QUERY, TOP_UP, topUp } from "./support/told.ts";
import { failure, otherFailure, page, recorded } from "./support/wire.ts";

/*
 * For `never_topped_up` the money is given back. No field of the answer names the checkoutId, so that one which was mixed up on
 * the way looks like any other: it takes two.
 */

const NEVER_SAID = { outcome: "never_topped_up", failure: { reason: "never_topped_up" } };

describe("never_topped_up", () => {
  test("is said when txn-status has said so twice, after a wait", async () => {
    const { outcome, sent, times } = await topUp(["reset", NEVER, NEVER, recorded()]);
    expect(outcome).toMatchObject(NEVER_SAID);
    expect(sent).toEqual([TOP_UP, QUERY, QUERY]);
    expect(times[2]).toBeGreaterThan(times[1] as number);
  });

  test("that was another's answer gives way to the success which the second answer tells", async () => {
    expect(await topUp(["reset", NEVER, recorded()])).toMatchObject({ outcome: FOUND, sent: [TOP_UP, QUERY, QUERY] });
    expect(await topUp([NEVER, recorded()], { resumed: true })).toMatchObject({ outcome: FOUND, sent: [QUERY, QUERY] });
  });

  test("that is taken back does not count: the next one has to be said twice again", async () => {
    const { outcome, sent } = await topUp(["reset", NEVER, NOT_YET, failure("400ab102"), NEVER, NEVER, recorded()]);
    expect(outcome).toMatchObject(NEVER_SAID);
    expect(sent).toEqual([TOP_UP, QUERY, QUERY, TOP_UP, QUERY, QUERY]);
    expect(await topUp(["reset", NEVER, otherFailure(404), NEVER, recorded()])).toMatchObject({ outcome: FOUND });
  });

  test("stands while nothing is heard in between", async () => {
    const silences: Scripted[] = ["reset", "hang", page(502), page(404), failure("400ae001"), failure("400ac006")];
    for (const silence of silences) {
      const { outcome, sent } = await topUp(["reset", NEVER, silence, NEVER, recorded()]);
      expect(outcome).toMatchObject(NEVER_SAID);
      expect(sent).toEqual([TOP_UP, QUERY, QUERY, QUERY]);
    }
  });

  test.each([
    ["is not known", failure("400ab101"), "ask_provider"],
    ["belongs to another access token", failure("400ac004"), "fix_request"],
  ] as const)("is not said where the second answer is that the checkoutId %s", async (_, second, next) => {
    const { outcome, sent } = await topUp(["reset", NEVER, second]);
    expect(outcome).toMatchObject({ outcome: "undecided", next: { do: next } });
    expect(sent).toEqual([TOP_UP, QUERY, QUERY]);
  });

  test("is not said where the second answer cannot be had in time", async () => {
    for (const second of ["reset", "hang", page(503)] as const) {
      const { outcome, times } = await topUp(["reset", NEVER, second], { giveUpAfterMs: 90_000 });
      expect(outcome).toMatchObject({ outcome: "undecided", next: { do: "query_again" } });
      expect(Math.max(...times)).toBeLessThan(90_000);
    }
    // The wait before it would be longer than what is left.
    const { outcome, sent } = await topUp(["reset", NEVER], { giveUpAfterMs: 1_000 });
    expect(outcome).toMatchObject({ outcome: "undecided", next: { do: "query_again" } });
    expect(sent).toEqual([TOP_UP, QUERY]);
  });
});
