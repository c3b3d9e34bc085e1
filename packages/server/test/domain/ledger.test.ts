import { describe, expect, test } from "vitest";
import { decideReversal, type Entry, headOf, type Ledger } from "../../src/domain/ledger.ts";
import { findFault } from "../../src/domain/ledger-check.ts";
import { isRunning } from "../../src/domain/subscription.ts";
import { LAST_WALL_TIME } from "../../src/domain/wall-time.ts";
import {
  at,
  goodwill,
  imported,
  labelOf,
  ledgerOf,
  MONTHLY,
  QUARTERLY,
  reversal,
  STAFF,
  stated,
  topUp,
} from "./builders.ts";
import { playStory, readStory } from "./ledger-story.ts";

describe("each end can be worked out on paper:", () => {
  test.each<[string, string]>([
    [
      "a period begins a run, and each one after it continues it",
      `10 Jan | top-up of 1 month  | 10 Jan to 10 Feb
        1 Feb | top-up of 3 months | 10 Jan to 10 May
        9 May | top-up of 1 month  | 10 Jan to 10 Jun`,
    ],
    [
      "what is paid at the end or later begins a new run",
      `10 Jan | top-up of 1 month | 10 Jan to 10 Feb
       10 Feb | top-up of 1 month | 10 Feb to 10 Mar
        5 Apr | top-up of 10 days | 5 Apr to 15 Apr`,
    ],
    [
      "goodwill of a run that was on at the horizon is still there when a file speaks of that run",
      `1 Mar | top-up of 3 months           | 1 Jun
        5 Mar | 10 days of goodwill           | 11 Jun
       12 Jun | top-up of 1 month             | 12 Jul
       14 Jun | history before 13 Apr goes    | 12 Jul
       15 Jun | file as of 9 Jun: 1 Mar to 1 Jul, goodwill lacking | 11 Aug`,
    ],
    [
      "what is paid a second before the end continues the run",
      `10 Jan          | top-up of 1 month | 10 Feb
        9 Feb 23:59:59 | top-up of 1 month | 10 Mar`,
    ],
    [
      "all months are added at once, so the 31st stays the 31st",
      `31 Jan | top-up of 1 month | 28 Feb
       10 Feb | top-up of 1 month | 31 Mar
       10 Mar | top-up of 1 month | 30 Apr`,
    ],
    [
      "a run of the 29th of February",
      `29 Feb 2028 | top-up of 12 months | 28 Feb 2029
        1 Jan 2029 | top-up of 36 months | 29 Feb 2032`,
    ],
    [
      "days come after months",
      `31 Jan | top-up of 1 month   | 28 Feb
       10 Feb | 3 days of goodwill  | 3 Mar
       11 Feb | top-up of 1 month   | 3 Apr`,
    ],
    [
      "goodwill bridges a gap, and nobody pays for the gap when it is reversed",
      `1 Jan | file as of 1 Jan: 1 Jan to 1 Feb | 1 Feb
      30 Jan | 10 days of goodwill              | 11 Feb
       5 Feb | top-up of 1 month                | 1 Jan to 11 Mar
       6 Feb | reversal of the goodwill of 30 Jan | 5 Feb to 5 Mar`,
    ],
    [
      "a reversal leaves what there was without it",
      `10 Jan | top-up of 1 month | 10 Feb
       20 Jan | top-up of 3 months | 10 May
       21 Jan | top-up of 1 month | 10 Jun
       22 Jan | reversal of the top-up of 20 Jan | 10 Mar
       23 Jan | reversal of the top-up of 10 Jan | 21 Jan to 21 Feb
       24 Jan | reversal of the top-up of 21 Jan | nothing`,
    ],
    [
      "nothing is reversed twice, and an import is never reversed",
      `1 Jan | file as of 1 Jan: 1 Jan to 1 Feb | 1 Feb
      10 Jan | top-up of 1 month | 1 Mar
      11 Jan | reversal of the top-up of 10 Jan | 1 Feb
      12 Jan | reversal of the top-up of 10 Jan | 1 Feb, already_reversed
      12 Jan | reversal of the top-up of 1 Jan | 1 Feb, not_found`,
    ],
    [
      "goodwill after the end begins a new run of so many days",
      `10 Jan | top-up of 1 month | 10 Feb
        1 Mar | 5 days of goodwill | 1 Mar to 6 Mar`,
    ],
  ])("%s", (_, text) => {
    const story = readStory(text);
    expect(playStory(story)).toEqual(story);
  });

  test("a subscription that is stated to begin later runs, and a top-up adds to it", () => {
    const story = readStory(`1 Jan | file as of 1 Jan: 1 Mar to 1 Apr | 1 Mar to 1 Apr
                            10 Jan | top-up of 1 month | 1 Mar to 1 May`);
    expect(playStory(story)).toEqual(story);
  });

  test("what is bought last is what is shown, and goodwill is not bought", () => {
    const bought = ledgerOf(topUp("2027-01-10"), topUp("2027-01-20", QUARTERLY), goodwill("2027-01-21", 5, MONTHLY));
    expect(headOf(bought).subscription).toMatchObject({ bouquet: labelOf(QUARTERLY), months: 4, days: 5, since: 1 });
  });

  test("running means an end that is later than now, and nothing else", () => {
    const end = "2027-02-01 00:00:00";
    expect([isRunning({ end }, "2027-01-31 23:59:59"), isRunning({ end }, end)]).toEqual([true, false]);
    expect(isRunning(undefined, end)).toBe(false);
  });
});

describe("when history goes,", () => {
  test.each<[string, string]>([
    [
      "what a run began with stays, and the run goes on",
      `10 Jan | top-up of 1 month | 10 Feb
        1 Mar | top-up of 6 months | 1 Sep
       20 Aug | top-up of 1 month | 1 Oct
       25 Aug | history before 10 Aug goes | 1 Mar to 1 Oct
       26 Aug | reversal of the top-up of 10 Jan | 1 Oct, not_found
       26 Aug | reversal of the top-up of 1 Mar | 1 Oct, history_gone
       26 Aug | reversal of the top-up of 20 Aug | 1 Sep`,
    ],
    [
      "the last entry stays, however old",
      `10 Jan | top-up of 1 month | 10 Feb
        1 Mar | top-up of 1 month | 1 Apr
       25 Dec | history before 1 Dec goes | 1 Mar to 1 Apr
       26 Dec | top-up of 1 month | 26 Dec to 26 Jan 2028`,
    ],
    [
      "what a reversal took back stays with it",
      `10 Jan | top-up of 1 month | 10 Feb
        1 Mar | reversal of the top-up of 10 Jan | nothing
        2 Mar | history before 1 Feb goes | nothing
        3 Mar | reversal of the top-up of 10 Jan | nothing, already_reversed`,
    ],
    [
      "what was made at the horizon stays, with what it took back",
      `10 Jan | top-up of 1 month | 10 Feb
        1 Mar | reversal of the top-up of 10 Jan | nothing
        2 Mar | top-up of 1 month | 2 Mar to 2 Apr
        3 Mar | history before 1 Mar goes | 2 Mar to 2 Apr
        4 Mar | reversal of the top-up of 10 Jan | 2 Mar to 2 Apr, already_reversed`,
    ],
    [
      "what is counted first cannot be reversed, though something older is left",
      `10 Jan | top-up of 1 month | 10 Feb
        1 Mar | top-up of 1 month | 1 Apr
        2 Mar | top-up of 1 month | 1 May
        3 Mar | reversal of the top-up of 1 Mar | 2 Mar to 2 Apr
        4 Mar | history before 1 Mar goes | 2 Mar to 2 Apr
        5 Mar | reversal of the top-up of 2 Mar | 2 Apr, history_gone`,
    ],
    [
      "the first entry of a ledger that lost nothing can be reversed",
      `10 Jan | top-up of 1 month | 10 Feb
       11 Jan | history before 1 Jan goes | 10 Feb
       12 Jan | reversal of the top-up of 10 Jan | nothing`,
    ],
  ])("%s", (_, text) => {
    const story = readStory(text);
    expect(playStory(story)).toEqual(story);
  });
});

describe("an entry", () => {
  test("has the next number, its time, and the subscription after it", () => {
    const ledger = ledgerOf(topUp("2027-01-10"), reversal("2027-01-11", 1));
    expect(ledger.entries.map(({ seq, kind, after }) => [seq, kind, after?.end])).toEqual([
      [1, "top_up", "2027-02-10 00:00:00"],
      [2, "reversal", undefined],
    ]);
    expect(headOf(ledger)).toEqual({ plan: MONTHLY.plan, seq: 2, subscription: undefined });
    expect(headOf({ plan: "x", entries: [] })).toEqual({ plan: "x", seq: 0, subscription: undefined });
  });

  test("is found by its number alone, and no reversal of a reversal is made", () => {
    const ledger = ledgerOf(topUp("2027-01-10"), reversal("2027-01-11", 1));
    const decide = (of: number) => decideReversal(ledger, { kind: "reversal", of, ...STAFF }, at("2027-01-12"));
    expect([decide(2), decide(3), decide(1)]).toEqual(["not_found", "not_found", "already_reversed"]);
  });

  test("may sort beyond the last time that can be told, so that whoever makes it can refuse it", () => {
    expect((headOf(ledgerOf(topUp("9999-12-15"))).subscription?.end ?? "") > LAST_WALL_TIME).toBe(true);
    expect(headOf(ledgerOf(topUp("9999-11-30 23:59:59"))).subscription?.end).toBe("9999-12-30 23:59:59");
  });
});

/* ledger.property.test.ts shows that no ledger made by the rules has a fault, pruned or not. */

const FIRST = [topUp("2027-01-10"), goodwill("2027-01-11", 7), topUp("2027-01-12"), reversal("2027-01-13", 3)];
const { plan, entries } = ledgerOf(...FIRST, imported("2027-01-14", stated("2027-01-10", "2027-06-10")));

function changed(seq: number, change: (entry: Entry) => object): Ledger {
  return {
    plan,
    entries: entries.map((entry) => (entry.seq === seq ? ({ ...entry, ...change(entry) } as Entry) : entry)),
  };
}

test.each<[string, Ledger, string]>([
  ["another period", changed(1, () => ({ period: { months: 2, days: 0 } })), "entry 1 does not follow"],
  ["another time", changed(2, () => ({ at: at("2027-05-01") })), "entry 2 does not follow"],
  ["another state", changed(3, ({ after }) => ({ after: { ...after, start: "2026-01-01 00:00:00" } })), "entry 3 does"],
  ["a reversal of another entry", changed(4, () => ({ of: 1 })), "entry 4 does not follow"],
  ["a reversal of none", changed(4, () => ({ of: 7 })), "entry 4 reverses what cannot be reversed"],
  ["other records", changed(5, () => ({ stated: undefined })), "entry 5 does not follow"],
  ["an entry missing", { plan, entries: entries.filter(({ seq }) => seq !== 2) }, "entry 3 stands after entry 1"],
])("a ledger with %s has a fault", (_, faulty, said) => {
  expect(findFault({ plan, entries })).toBeUndefined();
  expect(findFault(faulty)).toContain(said);
});

test("a pruned ledger begins with what is taken as it is, but for its end", () => {
  const entry = entries[2] as Entry;
  expect(findFault({ plan, entries: [entry] })).toBeUndefined();
  const moved = { ...entry, after: { ...entry.after, end: "2030-01-01 00:00:00" } } as Entry;
  expect(findFault({ plan, entries: [moved] })).toContain("has an end that is not its anchor");
});
