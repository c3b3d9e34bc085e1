import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createCalendar } from "../../src/domain/calendar.ts";
import { createChangingCalendar } from "../../src/domain/changing-calendar.ts";
import { zoneRulesOf } from "../../src/domain/zone-rules.ts";
import { at, months, RUNS } from "./builders.ts";
import { AFTER, BEFORE, changedAt } from "./two-rules.ts";

const CHANGE = at("2026-11-20");
const calendar = changedAt(CHANGE);

describe("a zone whose rules have changed", () => {
  test("has its past as it was told, and its future by the new rules", () => {
    expect(calendar.format(at("2026-06-30T03:30:00Z"))).toBe("2026-06-29 23:30:00");
    expect(calendar.parse("2026-06-29 23:30:00")).toBe(at("2026-06-30T03:30:00Z"));
    expect(calendar.format(at("2027-06-30T03:30:00Z"))).toBe("2027-06-30 00:30:00");
    expect(calendar.parse("2027-06-30 00:30:00")).toBe(at("2027-06-30T03:30:00Z"));
  });

  test("is as of a time what was known then", () => {
    const [before, after] = [calendar.asOf(CHANGE - 1), calendar.asOf(CHANGE)];
    const start = at("2026-11-01T03:00:00Z");
    expect(before.add(start, months(7))).toBe(at("2027-06-01T04:00:00Z"));
    expect(after.add(start, months(7))).toBe(at("2027-06-01T03:00:00Z"));
    expect(calendar.add(start, months(7))).toBe(at("2027-06-01T03:00:00Z"));
    expect(before.asOf(CHANGE)).toBe(before);
  });

  test("reads what is written today in every way that it may have been meant", () => {
    const end = at("2027-06-01T03:00:00.250Z");
    expect(calendar.readings(end)).toEqual([end, at("2027-06-01T04:00:00.250Z")]);
    expect(calendar.asOf(CHANGE - 1).readings(end)).toEqual([end]);
  });

  test("reads a time that has passed by other rules as it was said before these, and are in force again", () => {
    const [before, after] = [zoneRulesOf(BEFORE), zoneRulesOf(AFTER)];
    const record = [
      { since: 0, rules: before },
      { since: at("2026-06-11"), rules: after },
      { since: at("2026-07-21"), rules: before },
      { since: at("2026-08-09"), rules: after },
    ];
    const start = createChangingCalendar(AFTER, record).parse("2026-07-01 00:00:00") as number;
    expect(start).toBe(at("2026-07-01T03:00:00Z"));
    expect(createChangingCalendar(AFTER, record).readings(start)).toEqual([start, at("2026-07-01T04:00:00Z")]);
  });

  test("reads a time that clocks skip by the new rules as it was said when they did not", () => {
    const skips = createChangingCalendar(BEFORE, [
      { since: 0, rules: zoneRulesOf(AFTER) },
      { since: CHANGE, rules: zoneRulesOf(BEFORE) },
    ]);
    const start = skips.parse("2027-09-05 00:00:00") as number;
    expect(skips.format(start)).toBe("2027-09-05 01:00:00");
    expect(skips.readings(start)).toEqual([start, at("2027-09-05T03:00:00Z")]);
    expect(skips.readingsAt(start, CHANGE - 1)).toEqual([start, at("2027-09-05T03:00:00Z")]);
  });

  test("has ended where it was said, and where it was counted since", () => {
    const start = at("2027-06-01T03:00:00Z");
    const endings = calendar.endings(start, months(6));
    expect(endings[0]).toBe(at("2027-12-01T03:00:00Z"));
    expect(endings).toContain(at("2027-12-01T04:00:00Z"));
    expect(createCalendar(AFTER).endings(start, months(6))).toEqual([at("2027-12-01T03:00:00Z")]);
  });

  test("has had the offsets of all its rules", () => {
    const hours = [...calendar.offsets()].map((offset) => offset / 3_600_000);
    expect(new Set(hours)).toEqual(new Set([-3, -4]));
    expect([...createCalendar("UTC").offsets()]).toEqual([0]);
  });
});

test("a zone whose rules have never changed has the calendar that it always had", () => {
  const only = createChangingCalendar(AFTER, [{ since: 0, rules: zoneRulesOf(AFTER) }]);
  expect(only.record).toEqual([]);
  expect(only.asOf(0)).toBe(only);
});

const ZONES = [
  "UTC",
  "Asia/Kathmandu",
  "America/New_York",
  "Africa/Casablanca",
  "Australia/Lord_Howe",
  "Antarctica/Troll",
];

describe.each(ZONES)("the former rules of %s, as they were noted, do as the zone's own did", (zone) => {
  const own = createCalendar(zone);
  const noted = createChangingCalendar(BEFORE, [
    { since: 0, rules: zoneRulesOf(zone) },
    { since: at("2069-01-01"), rules: zoneRulesOf(BEFORE) },
  ]).asOf(0);
  const from2000 = (until: string) =>
    fc.oneof(
      fc.integer({ min: at("2000-01-05") / 1000, max: at(until) / 1000 }).map((seconds) => seconds * 1000),
      fc.integer({ min: at("2000-01-05") / 1_800_000, max: at(until) / 1_800_000 }).map((halves) => halves * 1_800_000),
    );
  const runs = { ...RUNS, numRuns: 1_000 };

  test("in writing, and in reading that again", () => {
    fc.assert(
      fc.property(from2000("2069-12-01"), (instant) => {
        const text = own.format(instant);
        expect(noted.format(instant)).toBe(text);
        expect(noted.parse(text)).toBe(own.parse(text));
      }),
      runs,
    );
  });

  test("in adding, and in what is between", () => {
    const spans = fc.record({
      months: fc.nat({ max: 24 }),
      days: fc.constantFrom(0, 1, 7, 30, 45),
      seconds: fc.constantFrom(0, 0, 3600),
    });
    fc.assert(
      fc.property(from2000("2060-01-01"), spans, (start, span) => {
        const end = own.add(start, span);
        expect(noted.add(start, span)).toBe(end);
        expect(noted.between(start, end)).toEqual(own.between(start, end));
      }),
      runs,
    );
  });

  test("in reading times that clocks skip or repeat", () => {
    for (const [from, offset] of zoneRulesOf(zone).slice(1)) {
      for (let minutes = -180; minutes <= 180; minutes += 15) {
        const text = createCalendar("UTC").format(from + minutes * 60_000 + offset);
        expect(noted.parse(text), text).toBe(own.parse(text));
      }
    }
  });
});
