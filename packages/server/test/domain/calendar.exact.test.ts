import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createCalendar, createExactCalendar } from "../../src/domain/calendar.ts";
import { at, RUNS } from "./builders.ts";

/** Zones of every kind: without changes, with them in either half of the year, of half an hour, and with a day that was left out. */
const ZONES = [
  "UTC",
  "Asia/Kathmandu",
  "Asia/Kolkata",
  "America/New_York",
  "America/Sao_Paulo",
  "Europe/Berlin",
  "Africa/Casablanca",
  "Australia/Lord_Howe",
  "Pacific/Apia",
  "Pacific/Kiritimati",
  "Antarctica/Troll",
];

const anyInstant = fc.oneof(
  fc.integer({ min: at("1969-12-01"), max: at("2100-01-01") }),
  fc.integer({ min: at("2010-01-01") / 1000, max: at("2040-01-01") / 1000 }).map((seconds) => seconds * 1000),
  fc.integer({ min: at("1900-01-01"), max: Date.UTC(10_000, 1, 1) }),
);
/** Whole hours and half hours, at which clocks are changed. */
const anyHalfHour = fc.integer({ min: 700_000, max: 1_100_000 }).map((halves) => halves * 1_800_000);
const instants = fc.oneof(
  anyInstant,
  anyHalfHour,
  fc.tuple(anyHalfHour, fc.integer({ min: -1, max: 1 })).map(([a, b]) => a + b),
);
const spans = fc.record({
  months: fc.oneof(fc.constantFrom(0, 1, 3, 6, 12), fc.nat({ max: 400 })),
  days: fc.oneof(fc.constantFrom(0, 1, 7, 30), fc.nat({ max: 4_000 })),
  seconds: fc.constantFrom(0, 0, 0, 1, 3600),
});

describe.each(ZONES)("the quick calendar of %s does as the exact one", (zone) => {
  const quick = createCalendar(zone);
  const exact = createExactCalendar(zone);
  const runs = { ...RUNS, numRuns: 1_500 };

  test("in adding", () => {
    fc.assert(
      fc.property(instants, spans, (start, span) => {
        expect(quick.add(start, span)).toBe(exact.add(start, span));
      }),
      runs,
    );
  });

  test("in telling what is between", () => {
    fc.assert(
      fc.property(instants, fc.oneof(instants, fc.constant(undefined)), spans, (start, other, span) => {
        const end = other ?? exact.add(start, span);
        expect(quick.between(start, end)).toEqual(exact.between(start, end));
      }),
      runs,
    );
  });

  test("in writing and reading", () => {
    fc.assert(
      fc.property(instants, (instant) => {
        const text = exact.format(instant);
        expect(quick.format(instant)).toBe(text);
        expect(quick.parse(text)).toBe(exact.parse(text));
      }),
      runs,
    );
  });
});

test.each([
  "2026-02-29 00:00:00",
  "2026-02-31 10:00:00",
  "2026-11-20 24:00:00",
  "2026-13-01 00:00:00",
  "2026-00-10 00:00:00",
])("%s is no time in either", (text) => {
  expect(createCalendar("Asia/Kathmandu").parse(text)).toBe(createExactCalendar("Asia/Kathmandu").parse(text));
});
