import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  appendGrant,
  decideReversal,
  type Entry,
  GOODWILL_READINGS,
  headOf,
  isGrant,
  type Ledger,
} from "../../src/domain/ledger.ts";
import { findFault } from "../../src/domain/ledger-check.ts";
import { decideImport } from "../../src/domain/ledger-import.ts";
import type { StatedSubscription } from "../../src/domain/subscription.ts";
import { DAY_MS, type Moment, plus, secondBefore } from "../../src/domain/wall-time.ts";
import { at, imported, labelOf, ledgerOf, MONTHLY, momentOf, RUNS, STAFF, stated, topUp } from "./builders.ts";
import { playStory, readStory } from "./ledger-story.ts";

describe("an end at a day's last second stands for the midnight after it:", () => {
  test.each<[string, string]>([
    [
      "at the end of a month",
      `1 Oct | file as of 1 Oct: 1 Oct to 30 Nov 23:59:59 | 30 Nov 23:59:59
       2 Oct | top-up of 1 month | 31 Dec 23:59:59
       3 Oct | top-up of 2 months | 29 Feb 2028 23:59:59`,
    ],
    [
      "in the middle of one",
      `31 Oct | file as of 31 Oct: 31 Oct to 29 Nov 23:59:59 | 29 Nov 23:59:59
        1 Nov | top-up of 1 month | 30 Dec 23:59:59
        2 Nov | 3 days of goodwill | 2 Jan 2028 23:59:59
        3 Nov | reversal of the top-up of 1 Nov | 2 Dec 23:59:59
        4 Nov | file as of 3 Nov: 31 Oct to 2 Dec 23:59:59 | 2 Dec 23:59:59, no entry`,
    ],
    [
      "of a month whose first day was cut short",
      `1 Feb 14:20:05 | file as of 1 Feb: 1 Feb 14:20:05 to 28 Feb 23:59:59 | 28 Feb 23:59:59
       2 Feb          | top-up of 1 month | 31 Mar 23:59:59`,
    ],
    [
      "but not where whole months end at that second",
      `15 Oct 23:59:59 | file as of 15 Oct: 15 Oct 23:59:59 to 15 Nov 23:59:59 | 15 Nov 23:59:59
       16 Oct          | top-up of 1 month | 15 Dec 23:59:59`,
    ],
    [
      "until the run has ended: the next one begins when it is bought",
      `1 Jan | file as of 1 Jan: 1 Jan to 31 Jan 23:59:59 | 31 Jan 23:59:59
       1 Feb | top-up of 1 month | 1 Feb to 1 Mar`,
    ],
    [
      "and goodwill that bridged a lapse is counted in whole days from it",
      `1 Jan | file as of 1 Jan: 1 Jan to 31 Jan 23:59:59 | 31 Jan 23:59:59
      30 Jan | 10 days of goodwill                        | 10 Feb 23:59:59
       5 Feb | top-up of 1 month                          | 10 Mar 23:59:59
      10 Feb | file as of 9 Feb: 5 Feb to 4 Mar 23:59:59  | 5 Feb to 10 Mar 23:59:59
      11 Feb | file as of 10 Feb: 5 Feb to 4 Mar 23:59:59 | 5 Feb to 10 Mar 23:59:59, no entry`,
    ],
  ])("%s", (_, text) => {
    const story = readStory(text);
    expect(playStory(story)).toEqual(story);
  });

  test("a time beyond the year 9999 stays beyond it", () => {
    const ledger = ledgerOf(imported("2027-01-01", stated("9999-11-01", "9999-11-30 23:59:59")), topUp("2027-01-02"));
    expect(headOf(ledger).subscription).toMatchObject({ isInclusive: true, end: "~" });
  });

  test("an end that is not a second before its anchor and periods is a fault", () => {
    const ledger = ledgerOf(imported("2027-01-01", stated("2027-01-01", "2027-01-31 23:59:59")));
    const [entry] = ledger.entries as [Entry];
    const after = { ...entry.after, isInclusive: false };
    expect(findFault(ledger)).toBeUndefined();
    expect(findFault({ ...ledger, entries: [{ ...entry, seq: 2, after } as Entry] })).toContain("has an end");
  });
});

const MINUTE_MS = 60_000;
const BEGIN = "2027-01-01 00:00:00";

const act = fc.record({
  kind: fc.constantFrom("topUp", "topUp", "goodwill", "reversal", "file"),
  /** Whole minutes, so that nothing happens in the second between both ends. */
  after: fc.integer({ min: 2, max: 40 * 24 * 60 }),
  count: fc.integer({ min: 1, max: 12 }),
  which: fc.nat({ max: 9 }),
  goodwill: fc.constantFrom(...GOODWILL_READINGS),
});
type Act = typeof act extends fc.Arbitrary<infer Value> ? Value : never;

const history = fc.record({
  day: fc.nat({ max: 1500 }),
  unit: fc.constantFrom("month" as const, "day" as const),
  count: fc.integer({ min: 1, max: 14 }),
  acts: fc.array(act, { minLength: 1, maxLength: 8 }),
});

/** A bouquet's period, so often. */
function periodOf(unit: StatedSubscription["unit"], count: number) {
  return unit === "month" ? { months: count, days: 0 } : { months: 0, days: count };
}

/** The ledgers after each act. All files state ends of the same kind. */
function play(
  { day, unit, count, acts }: typeof history extends fc.Arbitrary<infer V> ? V : never,
  inclusive: boolean,
) {
  const begin = plus(BEGIN, { months: 0, days: day });
  const row = (start: string, units: number): StatedSubscription => {
    const end = plus(start, periodOf(unit, units));
    return { plan: MONTHLY.plan, bouquet: labelOf(MONTHLY), start, end: inclusive ? secondBefore(end) : end, unit };
  };
  const first = { kind: "import", asOf: at(begin), stated: row(begin, count), since: 1, goodwill: "lacking" } as const;
  let ledger = ledgerOf(imported(begin, first.stated));
  let now = at(begin).instant;
  return acts.map((each) => {
    now += each.after * MINUTE_MS;
    const entry = happen(ledger, { act: each, row, unit, begin, now: momentOf(now) });
    if (entry !== undefined) ledger = { ...ledger, entries: [...ledger.entries, entry] };
    return ledger;
  });
}

interface Happening {
  readonly act: Act;
  readonly row: (start: string, units: number) => StatedSubscription;
  readonly unit: StatedSubscription["unit"];
  readonly begin: string;
  readonly now: Moment;
}

function happen(ledger: Ledger, { act: { kind, count, which, goodwill }, row, unit, begin, now }: Happening) {
  const bouquet = labelOf(MONTHLY);
  if (kind === "topUp")
    return appendGrant(headOf(ledger), { kind: "top_up", txnId: "T", bouquet, period: periodOf(unit, count) }, now);
  if (kind === "goodwill")
    return appendGrant(headOf(ledger), { kind, bouquet, period: { months: 0, days: count }, ...STAFF }, now);
  if (kind === "reversal") {
    const of = ledger.entries.filter(isGrant)[which]?.seq ?? 0;
    const entry = decideReversal(ledger, { kind, of, ...STAFF }, now);
    return typeof entry === "string" ? undefined : entry;
  }
  // Billing states the run from its start, or from one of the last days.
  const start = which < 5 ? begin : plus(`${now.wall.slice(0, 10)} 00:00:00`, { months: 0, days: 5 - which });
  const asOf = momentOf(now.instant - (which % 3) * DAY_MS - MINUTE_MS);
  const rules = { asOf, now, goodwill, toleranceDays: 1, allowsShorter: true };
  const decision = decideImport(ledger, row(start, count), rules);
  return decision.kind === "changed" ? decision.entry : undefined;
}

test("an inclusive end is always the exclusive one less a second, whatever is topped up, given, reversed, imported", () => {
  let [compared, inclusive] = [0, 0];
  fc.assert(
    fc.property(history, (story) => {
      const [exclusives, inclusives] = [play(story, false), play(story, true)];
      for (const [index, ledger] of inclusives.entries()) {
        const [exclusive, own] = [exclusives[index] as Ledger, ledger].map((each) => headOf(each).subscription);
        const isInclusive = own?.isInclusive === true;
        expect(own?.end).toBe(isInclusive ? secondBefore(exclusive?.end ?? "") : exclusive?.end);
        [compared, inclusive] = [compared + 1, inclusive + (isInclusive ? 1 : 0)];
        expect(findFault(ledger)).toBeUndefined();
      }
    }),
    RUNS,
  );
  expect(inclusive).toBeGreaterThan(compared / 3);
});
