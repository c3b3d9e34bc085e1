import { describe, expect, test } from "vitest";
import { FAULTS as SERVED } from "../../server/src/domain/practice.ts";
import type { Report } from "../src/index.ts";
import { FAULTS, PRACTICE_CUID } from "../src/practice.ts";
import { check, failedIn, type Settings } from "./support/conformance.ts";
import type { FakeOptions, FakeProvider, Request } from "./support/fake-provider.ts";
import { LISTING, LOOK_UP, on, TOP_UP } from "./support/mutant.ts";

/* topupd's practice customer, whose top-ups go wrong on purpose. */

const SETTINGS: Settings = { profile: "topupd", topUp: true };
const ONE: Settings = { ...SETTINGS, versions: ["v1.0.1"] };
const TOPUPD: FakeOptions = { isTopupd: true, practice: {} };

function isPractised({ fields }: Request): boolean {
  return fields["cuid"] === PRACTICE_CUID || fields["code"] === PRACTICE_CUID;
}

function practisedIn({ requests }: FakeProvider, operation: string): number {
  return requests.filter((request) => request.operation === operation && isPractised(request)).length;
}

/** Outcomes and reasons of the practice checks, each once. */
function outcomesIn({ results }: Report): unknown[] {
  const found = results.filter(({ id }) => id.startsWith("practice-"));
  return [...new Set(found.map(({ outcome, reason }) => (reason === undefined ? outcome : `${outcome}: ${reason}`)))];
}

/** The price of one connection changes with each listing. */
function risingPrice(): FakeOptions {
  let listings = 0;
  return on(LISTING, ({ body }, { fields }) => {
    if (fields["reqId"] !== "lost-before") return;
    for (const bouquet of body.internet.bouquets) bouquet.price += listings;
    listings += 1;
  });
}

describe("a service with the practice customer", () => {
  test("is practised with in each version, at the announced cost, and holds", async () => {
    const lines: string[] = [];
    const waits: number[] = [];
    const wait = async (ms: number) => void waits.push(ms);
    const { report, provider } = await check(TOPUPD, { ...SETTINGS, wait, onProgress: (line) => lines.push(line) });
    expect([failedIn(report), report.ok, outcomesIn(report), report.notes]).toEqual([[], true, ["holds"], []]);
    expect(lines).toEqual(
      expect.arrayContaining([
        "trial top-ups of customer 1000010, to practise faults: 14",
        "  v1.0.1: 7 of IP-1M at 150",
      ]),
    );
    expect([provider.charged(), practisedIn(provider, TOP_UP)]).toEqual([16, 46]);
    // Two late looks, and Retry-After of three connections in each version.
    expect(waits).toEqual(Array(10).fill(2000));
  });

  test("is asked for the faults that topupd has, except those that take long", () => {
    const names = SERVED.map(({ name }) => name);
    const left = ["slow", "ask-fails", "undecided", "reversed"];
    expect(FAULTS.map(({ name }) => name)).toEqual(names.filter((name) => !left.includes(name)));
  });

  test("may be behind a proxy that answers in place of a closed connection", async () => {
    const isTopupd = true;
    const practice = { "lost-after": { answer: "page" }, "half-answer": { answer: "page" } } as const;
    expect((await check({ isTopupd, practice }, ONE)).report.ok).toBe(true);
  });
});

test("a connection that a limit reaches is not judged", async () => {
  const rewrite: FakeOptions["rewrite"] = (answer, { operation, fields }) => {
    if (operation === TOP_UP && fields["reqId"] === "busy-before") answer.status = 429;
  };
  expect((await check({ ...TOPUPD, rewrite }, ONE)).report.ok).toBe(true);
});

describe("nothing is practised", () => {
  test.each<[string, FakeOptions, Settings, string]>([
    ["without the customer", { isTopupd: true }, ONE, "skipped: there is no practice customer"],
    [
      "without one of the connections",
      { isTopupd: true, practice: { limited: undefined } },
      ONE,
      "skipped: the practice customer lacks a connection",
    ],
    [
      "with a token that is not of the trial environment",
      { ...TOPUPD, isLenient: (reason) => reason === "unknown_token" },
      { ...ONE, token: "topup_live_of-the-wallet" },
      "skipped: practising needs a trial token",
    ],
    [
      "if another customer has that number",
      {
        ...TOPUPD,
        ...on(LOOK_UP, ({ body }, request) => Object.assign(body.customer, isPractised(request) && { cuid: "17" })),
      },
      ONE,
      "skipped: there is no practice customer",
    ],
    [
      "if the price has changed since it was announced",
      { ...TOPUPD, ...risingPrice() },
      ONE,
      "skipped: the bouquet or its price has changed meanwhile",
    ],
    [
      "after a doubtful top-up",
      { ...TOPUPD, takesAnyAmount: true },
      ONE,
      "skipped: a top-up with a wrong amount was not refused",
    ],
  ])("%s", async (_, fake, settings, outcome) => {
    const { report, provider } = await check(fake, settings);
    expect([practisedIn(provider, TOP_UP), outcomesIn(report)]).toEqual([0, [outcome]]);
  });

  test.each<[string, Settings]>([
    ["without the profile", { topUp: true }],
    ["without --top-up", { profile: "topupd" }],
  ])("%s: the customer is not even looked up", async (_, settings) => {
    const { provider } = await check(TOPUPD, settings);
    expect(provider.requests.filter(isPractised)).toEqual([]);
  });

  test("with a production token: the customer is not even looked up", async () => {
    const fake: FakeOptions = { ...TOPUPD, isLenient: (reason) => reason === "unknown_token" };
    const { provider } = await check(fake, { ...ONE, token: "topup_live_of-the-wallet" });
    expect(provider.requests.filter(isPractised)).toEqual([]);
  });
});

test.each([
  ["a refusal that buys", { withdrawn: { times: 0 } }, "a top-up with the fault withdrawn was not refused", 10],
  [
    "a repetition without an answer",
    { "busy-after": { answer: "nothing", times: 2 } },
    "a repeated top-up was not answered",
    7,
  ],
] as const)("after %s, no other top-up is sent in any version", async (_, practice, reason, charged) => {
  const { report, provider } = await check({ isTopupd: true, practice }, SETTINGS);
  expect(provider.charged()).toBe(charged);
  expect(report.notes.map(({ text }) => text)).toEqual([expect.stringContaining(`because ${reason}`)]);
  expect(outcomesIn(report)).toContain("skipped: nothing is bought after a doubtful top-up");
});
