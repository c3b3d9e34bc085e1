import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createCalendar, type Instant } from "../../src/domain/calendar.ts";
import { NO_PERIOD, type Period } from "../../src/domain/period.ts";
import { importedSpan } from "../../src/domain/subscription.ts";
import { at, days, fold, labelOf, MONTHLY, months, RUNS, topUp, UTC } from "./builders.ts";

const MONTH: Period = { months: 1, days: 0 };
const QUARTER: Period = { months: 3, days: 0 };
const YEAR: Period = { months: 12, days: 0 };
const WEEK: Period = { months: 0, days: 7 };

const ZONES = ["UTC", "Asia/Kathmandu", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe"];

/** The end after `renewals` more months of a subscription imported with these dates. */
function endAfter(start: Instant, end: Instant, renewals: number): string {
  const span = importedSpan(start, end, MONTH, UTC);
  const imported = { kind: "statement", at: start, bouquet: labelOf(MONTHLY), start, span, onTop: NO_PERIOD } as const;
  const topUps = Array.from({ length: renewals }, (_, index) => topUp(start + index));
  return UTC.format(fold([imported, ...topUps]).end);
}

describe("the span of an imported subscription", () => {
  test.each([
    ["2026-01-31", "2026-02-28", MONTH, months(1)],
    ["2026-01-31", "2026-03-31", MONTH, months(2)],
    ["2026-01-30", "2026-02-28", MONTH, months(1)],
    ["2026-12-31", "2027-02-28", MONTH, months(2)],
    ["2028-01-31", "2028-02-29", MONTH, months(1)],
    ["2026-11-30", "2027-02-28", QUARTER, months(3)],
    ["2028-02-29", "2029-02-28", YEAR, months(12)],
    ["2026-01-01", "2026-01-15", WEEK, days(14)],
  ])("from %s to %s is a whole number of the bouquet's periods", (start, end, period, span) => {
    expect(importedSpan(at(start), at(end), period, UTC)).toEqual(span);
  });

  test("lets a month from 31 January to 28 February go on to 31 March", () => {
    expect(endAfter(at("2026-01-31"), at("2026-02-28"), 1)).toBe("2026-03-31 00:00:00");
    expect(endAfter(at("2026-01-31"), at("2026-02-28"), 2)).toBe("2026-04-30 00:00:00");
  });

  test("that is no whole number of periods keeps its odd days and seconds through a renewal", () => {
    const start = at("2026-01-10");
    const end = at("2026-02-15T23:59:59Z");
    expect(endAfter(start, end, 0)).toBe("2026-02-15 23:59:59");
    expect(endAfter(start, end, 1)).toBe("2026-03-15 23:59:59");
  });

  test("shorter than a period is counted as it is", () => {
    expect(importedSpan(at("2026-01-10"), at("2026-01-12T00:00:05Z"), MONTH, UTC)).toEqual({
      months: 0,
      days: 2,
      seconds: 5,
    });
  });

  test("leads exactly to the end that was imported, in any zone", () => {
    const anyStart = fc.integer({ min: at("2000-01-01") / 1000, max: at("2060-01-01") / 1000 });
    const anyLength = fc.oneof(fc.integer({ min: 1, max: 90_000 }), fc.integer({ min: 1, max: 400_000_000 }));
    const anyPeriod = fc.constantFrom(MONTH, QUARTER, YEAR, WEEK, { months: 0, days: 1 }, { months: 0, days: 45 });
    const calendars = fc.constantFrom(...ZONES.map(createCalendar));
    fc.assert(
      fc.property(calendars, anyStart, anyLength, anyPeriod, (calendar, startSecond, seconds, period) => {
        const start = startSecond * 1000;
        const end = start + seconds * 1000;
        expect(calendar.add(start, importedSpan(start, end, period, calendar))).toBe(end);
      }),
      RUNS,
    );
  });

  test("of so many months sold is found again as so many months, in any zone", () => {
    const anyStart = fc.integer({ min: at("2000-01-01") / 1000, max: at("2060-01-01") / 1000 }).map((s) => s * 1000);
    const calendars = fc.constantFrom(...ZONES.map(createCalendar));
    fc.assert(
      fc.property(calendars, anyStart, fc.integer({ min: 1, max: 40 }), (calendar, start, count) => {
        const end = calendar.add(start, months(count));
        expect(importedSpan(start, end, MONTH, calendar)).toEqual(months(count));
      }),
      RUNS,
    );
  });

  test("of ten weeks is ten weeks, although that is more than two months", () => {
    const start = at("2026-01-01");
    expect(importedSpan(start, UTC.add(start, days(70)), WEEK, UTC)).toEqual(days(70));
  });
});
