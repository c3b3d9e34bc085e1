import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createCalendar } from "../../src/domain/calendar.ts";
import { countDays, listDays, readDay } from "../../src/domain/day-range.ts";
import { RUNS } from "./builders.ts";

const HOUR_MS = 3_600_000;

describe("a day of the provider's zone", () => {
  test.each([
    ["Asia/Kathmandu", "2026-11-20", 24, "2026-11-19T18:15:00.000Z"],
    ["Europe/Berlin", "2026-03-29", 23, "2026-03-28T23:00:00.000Z"],
    ["Europe/Berlin", "2026-10-25", 25, "2026-10-24T22:00:00.000Z"],
    ["America/New_York", "2026-11-01", 25, "2026-11-01T04:00:00.000Z"],
    // Clocks skip midnight: the day begins at one.
    ["Asia/Beirut", "2026-03-29", 23, "2026-03-28T22:00:00.000Z"],
    // Clocks repeat the hour before one: the day begins with the first of the two.
    ["America/Havana", "2026-11-01", 25, "2026-11-01T04:00:00.000Z"],
  ])("in %s, %s has %i hours", (zone, day, hours, start) => {
    const found = readDay(day, createCalendar(zone));
    expect(new Date(found?.start ?? 0).toISOString()).toBe(start);
    expect(((found?.end ?? 0) - (found?.start ?? 0)) / HOUR_MS).toBe(hours);
  });

  test("begins where the one before it ends, and holds exactly the times that are written with it", () => {
    const zones = ["UTC", "Asia/Kathmandu", "Asia/Beirut", "America/Havana", "Europe/Berlin", "Australia/Lord_Howe"];
    const anyDay = fc.integer({ min: 0, max: 12_000 }).map((day) => Date.UTC(2000, 0, 1 + day));
    fc.assert(
      fc.property(fc.constantFrom(...zones), anyDay, (zone, midnight) => {
        const calendar = createCalendar(zone);
        const text = new Date(midnight).toISOString().slice(0, 10);
        const next = new Date(midnight + 24 * HOUR_MS).toISOString().slice(0, 10);
        const day = readDay(text, calendar);
        if (day === undefined) throw new Error(`${text} is no day in ${zone}`);
        expect(readDay(next, calendar)?.start).toBe(day.end);
        expect(calendar.format(day.start).slice(0, 10)).toBe(text);
        expect(calendar.format(day.end - 1).slice(0, 10)).toBe(text);
        expect(calendar.format(day.start - 1).slice(0, 10) < text).toBe(true);
        expect(calendar.format(day.end).slice(0, 10)).toBe(next);
      }),
      RUNS,
    );
  });

  test.each(["2026-02-29", "2026-13-01", "20261120", "2026-11-20 10:00:00", "today", "", "2026-1-1"])(
    "%j is none",
    (text) => {
      expect(readDay(text, createCalendar("UTC"))).toBeUndefined();
    },
  );
});

describe("the days from one to another", () => {
  test("are all of them, both included, over the ends of months and years", () => {
    expect(listDays("2027-12-30", "2028-01-02")).toEqual(["2027-12-30", "2027-12-31", "2028-01-01", "2028-01-02"]);
    expect(listDays("2028-02-28", "2028-03-01")).toEqual(["2028-02-28", "2028-02-29", "2028-03-01"]);
    expect(listDays("2026-11-20", "2026-11-20")).toEqual(["2026-11-20"]);
    expect(listDays("2026-01-01", "2026-12-31")).toHaveLength(365);
  });

  test("end with the year 9999, as the form of a timestamp does", () => {
    expect(listDays("9999-12-30", "9999-12-31")).toEqual(["9999-12-30", "9999-12-31"]);
    expect(countDays("0001-01-01", "9999-12-31")).toBe(3_652_059);
  });

  test("are none where the last is before the first", () => {
    expect(listDays("2026-11-20", "2026-11-19")).toEqual([]);
  });
});
