import { describe, expect, test } from "vitest";
import { headOf } from "../../src/domain/ledger.ts";
import { decideImport } from "../../src/domain/ledger-import.ts";
import { importedSubscription } from "../../src/domain/subscription.ts";
import { at, goodwill, imported, ledgerOf, MONTHLY, QUARTERLY, reversal, stated, topUp, wall } from "./builders.ts";
import { playStory, readStory } from "./ledger-story.ts";

describe("what records state is counted", () => {
  test.each<[string, string, "month" | "day", string, boolean, number, number]>([
    ["2027-01-31", "2027-02-28", "month", "2027-01-31", false, 1, 0],
    ["2027-01-31", "2027-03-31", "month", "2027-01-31", false, 2, 0],
    ["2027-01-01", "2037-01-01", "month", "2027-01-01", false, 120, 0],
    ["2027-01-31 10:20:30", "2027-02-28 10:20:30", "month", "2027-01-31 10:20:30", false, 1, 0],
    ["2027-01-01", "2027-01-31 23:59:59", "month", "2027-01-01", true, 1, 0],
    ["2026-10-01", "2026-11-30 23:59:59", "month", "2026-10-01", true, 2, 0],
    ["2026-10-31", "2026-11-29 23:59:59", "month", "2026-10-31", true, 1, 0],
    ["2027-02-01", "2027-02-28 23:59:59", "month", "2027-02-01", true, 1, 0],
    ["2027-02-01 14:20:05", "2027-02-28 23:59:59", "month", "2027-03-01", true, 0, 0],
    ["2026-12-11 09:00:00", "2026-12-31 23:59:59", "day", "2027-01-01", true, 0, 0],
    ["2027-02-01 14:20:05", "2027-02-27 23:59:59", "month", "2027-02-27 23:59:59", false, 0, 0],
    ["2026-10-15 23:59:59", "2026-11-15 23:59:59", "month", "2026-10-15 23:59:59", false, 1, 0],
    ["2027-01-01", "2027-01-31", "month", "2027-01-31", false, 0, 0],
    ["2027-01-01", "2027-01-31", "day", "2027-01-01", false, 0, 30],
    ["2027-01-01", "2027-01-30 23:59:59", "day", "2027-01-01", true, 0, 30],
    ["2027-01-01", "2027-01-31 12:00:00", "day", "2027-01-31 12:00:00", false, 0, 0],
    ["2027-01-01", "9999-12-31 23:59:59", "month", "9999-12-31 23:59:59", false, 0, 0],
  ])("from %s to %s, sold by the %s: from %s on, inclusive %s, %i months and %i days", (...row) => {
    const [start, end, unit, anchor, isInclusive, months, days] = row;
    const subscription = importedSubscription({ ...stated(start, end), unit }, 7);
    const counted = { anchor: wall(anchor), isInclusive, months, days };
    expect(subscription).toMatchObject({ ...counted, end: wall(end), since: 7 });
  });
});

describe("a file holds what happened up to its moment:", () => {
  test.each<[string, string]>([
    [
      "what it cannot know is added, and what it holds is not added again",
      `5 Jan | file as of 5 Jan: 1 Jan to 1 Feb  | 1 Feb
      10 Jan | top-up of 1 month                 | 1 Mar
      11 Jan | file as of 9 Jan: 1 Jan to 1 Mar  | 1 Apr
      12 Jan | file as of 12 Jan: 1 Jan to 1 Apr | 1 Apr, no entry
      13 Jan | file as of 12 Jan: 1 Jan to 1 Apr | 1 Apr, no entry`,
    ],
    [
      "a top-up at the moment itself is in it",
      `10 Jan | top-up of 1 month | 10 Feb
       11 Jan | file as of 10 Jan: 10 Jan to 10 Apr | 10 Apr`,
    ],
    [
      "a top-up that was reversed since is not brought back",
      `1 Jan | file as of 1 Jan: 1 Jan to 1 Feb  | 1 Feb
      10 Jan | top-up of 1 month                 | 1 Mar
      14 Jan | reversal of the top-up of 10 Jan  | 1 Feb
      15 Jan | file as of 13 Jan: 1 Jan to 1 Mar | 1 Feb, no entry
      16 Jan | file as of 15 Jan: 1 Jan to 1 Feb | 1 Feb, no entry`,
    ],
    [
      "goodwill of the run stays on top of it",
      `1 Jan | file as of 1 Jan: 1 Jan to 1 Feb  | 1 Feb
      10 Jan | 10 days of goodwill               | 11 Feb
      20 Jan | file as of 19 Jan: 1 Jan to 1 Feb | 11 Feb, no entry
      25 Jan | file as of 24 Jan: 1 Jan to 1 Mar, goodwill lacking | 11 Mar
      26 Jan | file as of 25 Jan: 1 Jan to 1 Mar | 11 Mar, no entry`,
    ],
    [
      "what topupd told comes back, however often, and adds nothing",
      `1 Jun | file as of 1 Jun: 15 May to 15 Jun | 15 Jun
       2 Jun | 2 days of goodwill | 17 Jun
       4 Jun | file as of 3 Jun: 15 May to 17 Jun | 17 Jun, no entry
       5 Jun | file as of 4 Jun: 15 May to 17 Jun | 17 Jun, no entry
       6 Jun | file as of 5 Jun: 15 May to 17 Jun, goodwill held | 17 Jun, no entry`,
    ],
    [
      "another end on a run with goodwill needs a word, since it may hold the goodwill or lack it",
      `1 Jan | file as of 1 Jan: 1 Jan to 1 Feb   | 1 Feb
      10 Jan | 2 days of goodwill                 | 3 Feb
      12 Jan | file as of 11 Jan: 1 Jan to 3 Feb  | 3 Feb, no entry
      13 Jan | file as of 12 Jan: 1 Jan to 1 Feb  | 3 Feb, no entry
      14 Jan | file as of 13 Jan: 1 Jan to 2 Feb  | 3 Feb, goodwill unclear
      14 Jan | file as of 13 Jan: 1 Jan to 3 Mar  | 3 Feb, goodwill unclear
      14 Jan | file as of 13 Jan: 1 Jan to 3 Mar, goodwill held | 3 Mar
      15 Jan | file as of 14 Jan: 1 Jan to 3 Mar, goodwill lacking | 5 Mar`,
    ],
    [
      "to the day: records without a time of day need no word",
      `1 Jan 10:00:00 | top-up of 1 month | 1 Feb 10:00:00
       2 Jan | 2 days of goodwill | 3 Feb 10:00:00
       4 Jan | file as of 3 Jan: 1 Jan to 3 Feb | 3 Feb 10:00:00, no entry
       5 Jan | file as of 4 Jan: 1 Jan to 1 Feb | 3 Feb 10:00:00, no entry`,
    ],
    [
      "goodwill that bridged a lapse of billing is not counted twice",
      `1 Jan | file as of 1 Jan: 1 Jan to 1 Feb  | 1 Feb
      30 Jan | 10 days of goodwill               | 11 Feb
       5 Feb | top-up of 1 month                 | 11 Mar
      10 Feb | file as of 9 Feb: 5 Feb to 5 Mar  | 5 Feb to 11 Mar
      11 Feb | file as of 10 Feb: 5 Feb to 5 Mar | 5 Feb to 11 Mar, no entry
      12 Feb | file as of 11 Feb: 5 Feb to 5 Apr, goodwill lacking | 5 Feb to 11 Apr`,
    ],
    [
      "goodwill that was reversed since is taken from records that hold it",
      `1 Jan | file as of 1 Jan: 1 Jan to 1 Feb       | 1 Feb
      10 Jan | 2 days of goodwill                     | 3 Feb
      14 Jan | reversal of the goodwill of 10 Jan     | 1 Feb
      15 Jan | file as of 13 Jan: 1 Jan to 3 Feb      | 1 Feb, no entry
      15 Jan | file as of 13 Jan: 1 Jan to 1 Feb      | 1 Feb, no entry
      15 Jan | file as of 13 Jan: 1 Jan to 3 Mar      | 1 Feb, goodwill unclear
      16 Jan | file as of 15 Jan: 1 Jan to 3 Mar      | 3 Mar`,
    ],
    [
      "and where all that they hold was reversed since, nothing is left",
      `10 Jan | top-up of 1 month | 10 Feb
       12 Jan | file as of 11 Jan: 11 Jan to 11 Feb | 11 Jan to 11 Feb
       13 Jan | reversal of the top-up of 10 Jan | nothing`,
    ],
    [
      "goodwill after the moment is added to either kind of records",
      `1 Jan | file as of 1 Jan: 1 Jan to 1 Feb  | 1 Feb
      10 Jan | 2 days of goodwill                | 3 Feb
      12 Jan | file as of 9 Jan: 1 Jan to 1 Mar  | 3 Mar`,
    ],
    [
      "goodwill of a run that was over by then is used up",
      `1 Jan | file as of 1 Jan: 1 Jan to 1 Feb   | 1 Feb
      10 Jan | 10 days of goodwill                | 11 Feb
      20 Feb | file as of 19 Feb: 15 Feb to 15 Mar | 15 Mar`,
    ],
    [
      "a sale after an end begins anew, and a top-up since is added to it",
      `1 Jan | file as of 1 Jan: 1 Jan to 1 Feb   | 1 Feb
      10 Feb | top-up of 1 month                  | 10 Feb to 10 Mar
      12 Feb | file as of 9 Feb: 5 Feb to 5 Mar   | 5 Feb to 5 Apr
      14 Feb | file as of 13 Feb: 5 Feb to 5 Apr  | 5 Feb to 5 Apr, no entry`,
    ],
    [
      "a file that ends a paid run a day or more too early is held back until that is allowed",
      `1 Jan | file as of 1 Jan: 1 Jan to 1 Feb  | 1 Feb
      10 Jan | top-up of 1 month                 | 1 Mar
      12 Jan | file as of 11 Jan: 1 Jan to 1 Feb | 1 Mar, held back
      13 Jan | file as of 12 Jan: 1 Jan to 28 Feb | 1 Mar, held back
      14 Jan | file as of 13 Jan: nothing        | 1 Mar, held back
      15 Jan | file as of 14 Jan: 1 Jan to 1 Feb, shorter allowed | 1 Feb`,
    ],
    [
      "an end that is in neither book is held back: a top-up that was never booked is not subtracted",
      `1 Jan | file as of 1 Jan: 1 Jan to 1 Apr  | 1 Apr
      10 Jan | top-up of 1 month                 | 1 May
      14 Jan | reversal of the top-up of 10 Jan  | 1 Apr
      15 Jan | file as of 13 Jan: 1 Jan to 1 Apr | 1 Apr, held back
      15 Jan | file as of 13 Jan: 1 Jan to 1 May | 1 Apr, no entry
      15 Jan | file as of 13 Jan: 1 Jan to 1 Apr, within 31 days | 1 Apr, held back
      15 Jan | file as of 13 Jan: 1 Jan to 3 Apr, within 31 days | 1 Apr, no entry
      16 Jan | file as of 13 Jan: 1 Jan to 1 Apr, shorter allowed | 1 Mar`,
    ],
    [
      "nor one from which nothing is left, nor goodwill, nor where another top-up stays",
      `1 Jan | file as of 1 Jan: 1 Jan to 1 Feb  | 1 Feb
       2 Jan | top-up of 2 months                | 1 Apr
       3 Jan | 40 days of goodwill               | 11 May
       4 Jan | reversal of the top-up of 2 Jan   | 13 Mar
       5 Jan | file as of 3 Jan: 1 Jan to 1 Feb, goodwill held | 13 Mar, held back
       6 Jan | reversal of the goodwill of 3 Jan | 1 Feb
       7 Jan | file as of 5 Jan: 1 Jan to 1 Feb, goodwill held | 1 Feb, held back
       7 Jan | file as of 3 Jan: 1 Jan to 1 Feb  | 1 Feb, held back`,
    ],
    [
      "but one that is over may end anywhere",
      `1 Jan | file as of 1 Jan: 1 Jan to 1 Feb  | 1 Feb
      10 Jan | top-up of 1 month                 | 1 Mar
      14 Jan | reversal of the top-up of 10 Jan  | 1 Feb
       2 Feb | file as of 13 Jan: 1 Jan to 7 Feb | 7 Jan`,
    ],
    [
      "where nothing was topped up or given, records may shorten as they like",
      `1 Jan | file as of 1 Jan: 1 Jan to 1 Mar | 1 Mar
      10 Jan | file as of 9 Jan: 1 Jan to 1 Feb | 1 Feb
      11 Jan | file as of 10 Jan: nothing | nothing`,
    ],
    [
      "where all that was topped up is reversed, too",
      `1 Jan | file as of 1 Jan: 1 Jan to 1 Mar | 1 Mar
      10 Jan | top-up of 1 month | 1 Apr
      11 Jan | reversal of the top-up of 10 Jan | 1 Mar
      12 Jan | file as of 11 Jan: 1 Jan to 1 Feb | 1 Feb`,
    ],
    [
      "less than a day earlier, the later end stands",
      `10 Jan 10:00:00 | top-up of 1 month | 10 Feb 10:00:00
       12 Jan | file as of 11 Jan: 10 Jan to 10 Feb | 10 Feb 10:00:00, no entry
       13 Jan 11:00:00 | top-up of 1 month | 10 Mar 10:00:00
       15 Jan | file as of 14 Jan: 10 Jan to 10 Mar | 10 Mar 10:00:00, no entry`,
    ],
    [
      "and as many days earlier as billing is said to count",
      `10 Jan | top-up of 1 month | 10 Feb
       12 Jan | file as of 11 Jan: 10 Jan to 9 Feb | 10 Feb, held back
       12 Jan | file as of 11 Jan: 10 Jan to 9 Feb, within 3 days | 10 Feb, no entry
       12 Jan | file as of 11 Jan: 10 Jan to 7 Feb, within 3 days | 10 Feb, held back`,
    ],
    [
      "a later end is always taken",
      `10 Jan | top-up of 1 month | 10 Feb
       12 Jan | file as of 11 Jan: 10 Jan to 11 Feb | 10 Jan to 11 Feb`,
    ],
    [
      "a run that is over may be stated as anything",
      `10 Jan | top-up of 1 month | 10 Feb
       12 Feb | file as of 11 Feb: 10 Jan to 1 Feb | 1 Feb
       13 Feb | file as of 12 Feb: nothing | nothing
       14 Feb | file as of 13 Feb: nothing | nothing, no entry`,
    ],
    [
      "a plan that is gone from it keeps what was topped up since",
      `1 Jan | file as of 1 Jan: 1 Jan to 1 Feb | 1 Feb
      10 Feb | top-up of 1 month | 10 Feb to 10 Mar
      11 Feb | file as of 9 Feb: nothing | 10 Feb to 10 Mar, no entry`,
    ],
    [
      "a subscription for ever has nothing added to it",
      `10 Jan | top-up of 1 month | 10 Feb
       11 Jan | file as of 9 Jan: 1 Jan to 31 Dec 9999 23:59:59 | 31 Dec 9999 23:59:59`,
    ],
    [
      "a reset is as stated, whatever was topped up and given, and begins a new run",
      `1 Jan | file as of 1 Jan: 1 Jan to 1 Feb | 1 Feb
      10 Jan | top-up of 1 month | 1 Mar
      11 Jan | 5 days of goodwill | 6 Mar
      12 Jan | reset: 10 Jan to 10 Feb | 10 Jan to 10 Feb
      13 Jan | top-up of 1 month | 10 Jan to 10 Mar
      14 Jan | file as of 12 Jan: 10 Jan to 10 Feb | 10 Jan to 10 Mar, no entry
      15 Jan | reset: nothing | nothing`,
    ],
  ])("%s", (_, text) => {
    const story = readStory(text);
    expect(playStory(story)).toEqual(story);
  });

  test("what is held back tells both ends and the newest top-up", () => {
    const ledger = ledgerOf(topUp("2027-01-10"), topUp("2027-01-11", MONTHLY, "TXN2"), goodwill("2027-01-12", 3));
    const rules = { asOf: at("2027-01-13"), now: at("2027-01-14"), toleranceDays: 1, allowsShorter: false };
    const lacking = { ...rules, goodwill: "lacking" } as const;
    const decision = decideImport(ledger, stated("2027-01-10", "2027-02-10"), lacking);
    const ends = { keptEnd: headOf(ledger).subscription?.end, statedEnd: "2027-02-13 00:00:00" };
    const held = {
      kind: "held_back",
      bouquetCode: "NET-1M",
      txnId: "TXN2",
      ...{ rowEnd: undefined, goodwill: undefined, goodwillDays: undefined },
    };
    expect(decision).toEqual({ ...held, ...ends });
    const onlyGoodwill = ledgerOf(
      imported("2027-01-01", stated("2027-01-01", "2027-02-01")),
      goodwill("2027-01-10", 9),
    );
    expect(decideImport(onlyGoodwill, undefined, lacking)).toMatchObject({
      kind: "held_back",
      statedEnd: undefined,
      txnId: undefined,
    });
  });

  test.each([
    ["2027-04-01", undefined, { txnId: "TXN1", statedEnd: "2027-03-01 00:00:00", rowEnd: "2027-04-01 00:00:00" }],
    ["2027-01-20", undefined, { txnId: "TXN1", statedEnd: undefined, rowEnd: "2027-01-20 00:00:00" }],
    ["2027-04-01", "TXN2", { txnId: "TXN1", statedEnd: "2027-03-01 00:00:00", rowEnd: "2027-04-01 00:00:00" }],
    ["2027-02-20", "TXN2", { txnId: "TXN1", statedEnd: "2027-01-20 00:00:00", rowEnd: "2027-02-20 00:00:00" }],
  ])("what is in neither book, as a row to %s beside %s, tells the top-up that was subtracted", (end, other, held) => {
    const bought = [topUp("2027-01-10"), ...(other === undefined ? [] : [topUp("2027-01-11", MONTHLY, other)])];
    const first = imported("2027-01-01", stated("2027-01-01", "2027-04-01"));
    const ledger = ledgerOf(first, ...bought, reversal("2027-01-14", 2));
    const asOf = { asOf: at("2027-01-13"), now: at("2027-01-15") };
    const rules = { ...asOf, goodwill: undefined, toleranceDays: 1, allowsShorter: false };
    const keptEnd = headOf(ledger).subscription?.end;
    const decision = decideImport(ledger, stated("2027-01-01", end), rules);
    expect(decision).toMatchObject({ kind: "held_back", keptEnd, goodwillDays: undefined, ...held });
  });

  test("what is held back as goodwill unclear tells the days and the date of the goodwill", () => {
    const ledger = ledgerOf(topUp("2027-01-10"), goodwill("2027-01-11", 3), goodwill("2027-01-12", 4));
    const rules = { asOf: at("2027-01-13"), now: at("2027-01-14"), toleranceDays: 1, allowsShorter: true };
    const row = stated("2027-01-10", "2027-03-10");
    expect(decideImport(ledger, row, { ...rules, goodwill: undefined })).toEqual({
      ...{ kind: "held_back", bouquetCode: "NET-1M", txnId: undefined },
      ...{ keptEnd: "2027-02-17 00:00:00", statedEnd: "2027-03-10 00:00:00", rowEnd: undefined },
      goodwillDays: undefined,
      goodwill: { days: 7, at: "2027-01-12 00:00:00", lackingEnd: "2027-03-17 00:00:00" },
    });
  });

  test("what is held back as goodwill unclear tells both ends with later top-ups", () => {
    const ledger = ledgerOf(topUp("2027-01-10"), goodwill("2027-01-11", 3), topUp("2027-01-14", MONTHLY, "TXN2"));
    const rules = { asOf: at("2027-01-13"), now: at("2027-01-15"), toleranceDays: 1, allowsShorter: false };
    expect(decideImport(ledger, stated("2027-01-10", "2027-02-20"), { ...rules, goodwill: undefined })).toMatchObject({
      ...{ keptEnd: "2027-03-13 00:00:00", statedEnd: "2027-03-20 00:00:00" },
      goodwill: { days: 3, lackingEnd: "2027-03-23 00:00:00" },
    });
  });

  test.each([
    ["2027-02-10", { txnId: undefined, goodwillDays: 3 }],
    ["2027-02-05", { txnId: "TXN1", goodwillDays: undefined }],
  ])("records said to hold goodwill that end a run %s are held back for what they lack", (end, lacks) => {
    const ledger = ledgerOf(topUp("2027-01-10"), goodwill("2027-01-11", 3));
    const rules = { asOf: at("2027-01-13"), now: at("2027-01-14"), toleranceDays: 1, allowsShorter: false };
    const decision = decideImport(ledger, stated("2027-01-10", end), { ...rules, goodwill: "held" });
    expect(decision).toMatchObject({ kind: "held_back", keptEnd: "2027-02-13 00:00:00", ...lacks });
  });

  test.each([
    ["lacking", "2027-02-10", 7],
    ["held", "2027-02-17", 7],
  ] as const)("the entry of records that are %s goodwill keeps that, and the days in its end", (reading, end, days) => {
    const ledger = ledgerOf(topUp("2027-01-10"), goodwill("2027-01-11", 3), goodwill("2027-01-12", 4));
    const rules = { asOf: at("2027-01-13"), now: at("2027-01-14"), toleranceDays: 1, allowsShorter: false };
    const row = stated("2027-01-10", end, QUARTERLY);
    const entry = { goodwill: reading, after: { end: "2027-02-17 00:00:00", goodwillDays: days } };
    expect(decideImport(ledger, row, { ...rules, goodwill: undefined })).toMatchObject({ kind: "changed", entry });
  });

  test("another bouquet, start or end makes an entry, and nothing else", () => {
    const ledger = ledgerOf(imported("2027-01-01", stated("2027-01-01", "2027-02-01")));
    const rules = {
      asOf: at("2027-01-13"),
      now: at("2027-01-14"),
      goodwill: undefined,
      toleranceDays: 1,
      allowsShorter: false,
    };
    const kinds = [
      stated("2027-01-01", "2027-02-01"),
      stated("2027-01-01", "2027-02-01", QUARTERLY),
      stated("2027-01-02", "2027-02-01"),
      stated("2027-01-01", "2027-02-02"),
    ].map((each) => decideImport(ledger, each, rules).kind);
    expect(kinds).toEqual(["unchanged", "changed", "changed", "changed"]);
  });
});
