import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createCalendar } from "../../src/domain/calendar.ts";
import { at, days, fold, months, RUNS, topUp } from "./builders.ts";

const newYork = createCalendar("America/New_York");
const berlin = createCalendar("Europe/Berlin");

const HOUR_MS = 60 * 60 * 1000;
const anySecond = fc.integer({ min: at("2000-01-01") / 1000, max: at("2100-01-01") / 1000 }).map((s) => s * 1000);

describe("when the clocks change", () => {
  test("a month keeps the wall clock, and is an hour shorter or longer", () => {
    expect(newYork.add(at("2026-02-20T12:00:00-05:00"), months(1))).toBe(at("2026-03-20T12:00:00-04:00"));
    expect(newYork.add(at("2026-10-20T12:00:00-04:00"), months(1))).toBe(at("2026-11-20T12:00:00-05:00"));
    expect(berlin.add(at("2026-03-01T00:00:00+01:00"), months(1))).toBe(at("2026-04-01T00:00:00+02:00"));
    expect(berlin.add(at("2026-10-01T00:00:00+02:00"), months(1))).toBe(at("2026-11-01T00:00:00+01:00"));
  });

  test("a day keeps the wall clock too", () => {
    expect(newYork.add(at("2026-03-07T12:00:00-05:00"), days(1))).toBe(at("2026-03-08T12:00:00-04:00"));
    expect(berlin.add(at("2026-10-24T12:00:00+02:00"), days(1))).toBe(at("2026-10-25T12:00:00+01:00"));
  });

  test("seconds are counted as they pass", () => {
    const start = at("2026-03-07T12:00:00-05:00");
    expect(newYork.add(start, { months: 0, days: 0, seconds: 24 * 60 * 60 })).toBe(start + 24 * HOUR_MS);
  });

  test("an end in the hour that is left out comes an hour later on the clock", () => {
    expect(newYork.add(at("2026-02-08T02:30:00-05:00"), months(1))).toBe(at("2026-03-08T03:30:00-04:00"));
    expect(berlin.add(at("2026-02-28T02:30:00+01:00"), { months: 1, days: 1, seconds: 0 })).toBe(
      at("2026-03-29T03:30:00+02:00"),
    );
  });

  test("the renewal after an end in the hour left out goes back to the hour of the start", () => {
    const grants = [topUp("2026-02-08T02:30:00-05:00"), topUp("2026-02-20T09:00:00-05:00")];
    expect(fold(grants.slice(0, 1), newYork).end).toBe(at("2026-03-08T03:30:00-04:00"));
    expect(fold(grants, newYork).end).toBe(at("2026-04-08T02:30:00-04:00"));
  });

  test("an end in the hour that comes twice is in the first of the two", () => {
    expect(newYork.add(at("2026-10-01T01:30:00-04:00"), months(1))).toBe(at("2026-11-01T01:30:00-04:00"));
    expect(berlin.add(at("2026-09-25T02:30:00+02:00"), months(1))).toBe(at("2026-10-25T02:30:00+02:00"));
  });

  test("a timestamp in the hour left out is read as an hour later", () => {
    expect(newYork.parse("2026-03-08 02:30:00")).toBe(at("2026-03-08T03:30:00-04:00"));
    expect(berlin.parse("2026-03-29 02:00:00")).toBe(at("2026-03-29T03:00:00+02:00"));
  });

  test("a timestamp in the hour that comes twice is read as the first of the two", () => {
    expect(newYork.parse("2026-11-01 01:30:00")).toBe(at("2026-11-01T01:30:00-04:00"));
    expect(berlin.parse("2026-10-25 02:30:00")).toBe(at("2026-10-25T02:30:00+02:00"));
    expect(berlin.format(at("2026-10-25T02:30:00+01:00"))).toBe("2026-10-25 02:30:00");
  });

  test("a timestamp written and read again shows the same, and is off by the repeated hour at most", () => {
    const calendars = fc.constantFrom(newYork, berlin, createCalendar("Australia/Lord_Howe"));
    fc.assert(
      fc.property(calendars, anySecond, (calendar, instant) => {
        const again = calendar.parse(calendar.format(instant));
        expect(again).toBeDefined();
        expect(calendar.format(again as number)).toBe(calendar.format(instant));
        expect([0, HOUR_MS / 2, HOUR_MS]).toContain(instant - (again as number));
      }),
      RUNS,
    );
  });

  test("more months never end earlier than fewer", () => {
    const calendars = fc.constantFrom(newYork, berlin, createCalendar("Pacific/Apia"));
    fc.assert(
      fc.property(calendars, anySecond, fc.integer({ min: 1, max: 60 }), (calendar, start, count) => {
        expect(calendar.add(start, months(count))).toBeGreaterThan(calendar.add(start, months(count - 1)));
      }),
      RUNS,
    );
  });
});
