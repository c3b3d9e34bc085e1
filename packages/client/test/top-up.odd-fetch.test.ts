import { describe, expect, test } from "vitest";
import { readRetryAfter } from "../src/clock.ts";
import { createClient } from "../src/index.ts";
import { virtualClock } from "./support/virtual-clock.ts";
import { BASE, failure, PURCHASE, type Reply, recorded, START, TOKEN } from "./support/wire.ts";

/** Tops up with a `fetch` that gives whatever it is told to. */
async function topUpWith(response: () => unknown, random: () => number = () => 0.5) {
  const clock = virtualClock();
  const fetch = async () => response() as Response;
  const client = createClient({ base: BASE, token: TOKEN, fetch, clock, random });
  return clock.run(client.topUp(PURCHASE));
}

const like = ({ status, text, headers }: Reply, changes: object = {}) => ({
  status,
  headers: new Headers(headers),
  redirected: false,
  body: null,
  text: async () => text,
  ...changes,
});

describe("whatever a replaced fetch gives, a top-up that was sent ends as unknown and not as an exception", () => {
  test.each([
    ["nothing", () => undefined],
    ["no status", () => like(failure("400ab106"), { status: undefined })],
    ["a status that is none", () => like(recorded(), { status: 42 })],
    ["a text that is none", () => like(recorded(), { text: async () => 5 })],
    ["an object for a text", () => like(recorded(), { text: async () => ({}) })],
    [
      "an error that throws when it is looked at",
      () => {
        throw Object.defineProperty({}, "message", {
          get: () => {
            throw new Error("no");
          },
        });
      },
    ],
  ])("%s", async (_, response) => {
    expect(await topUpWith(response)).toMatchObject({ outcome: "undecided", next: { do: "query_again" } });
  });

  test("headers that are no text", async () => {
    const headers = { get: () => 17 };
    expect(await topUpWith(() => like(recorded(), { headers }))).toMatchObject({ outcome: "topped_up" });
  });

  test("fields that cannot be written as text", async () => {
    const fields = [{ field: { toString: 1, valueOf: 1 }, problem: null }];
    const outcome = await topUpWith(() => like(failure("400ad002", { fields })));
    expect(outcome).toMatchObject({ outcome: "refused", failure: { fields: [{ field: "", problem: "" }] } });
  });

  test("a random source that fails", async () => {
    const fail = () => {
      throw new Error("no entropy");
    };
    expect(await topUpWith(() => like(failure("400ae002")), fail)).toMatchObject({ outcome: "undecided" });
  });
});

describe("the access token is hidden", () => {
  test.each([
    ["in HTML", '<p>topup&amp;"&lt;x</p>', 'topup&"<x'],
    ["in JavaScript", "token \\u002Babc\\u002F", "+abc/"],
    [
      "where the answer was cut within it",
      `you sent ${"topup_trial_0123456789".slice(0, 18)}`,
      "topup_trial_0123456789",
    ],
  ])("%s", async (_, text, token) => {
    const fetch = async () =>
      like({ status: 502, text, headers: { "content-type": "text/html" } }) as unknown as Response;
    const client = createClient({ base: BASE, token, fetch, clock: virtualClock() });
    const answer = await client.queryTransaction("c");
    expect(JSON.stringify(answer)).toContain("[access token]");
    expect(JSON.stringify(answer)).not.toMatch(/topup_trial_01|u002Babc|amp;.*lt;x/);
  });
});

test("nobody is told to wait for more than ten minutes", () => {
  expect(readRetryAfter("31536000", START)).toBe(600_000);
  expect(readRetryAfter("Fri, 31 Dec 9999 23:59:59 GMT", START)).toBe(600_000);
  expect(readRetryAfter("2", START)).toBe(2_000);
});
