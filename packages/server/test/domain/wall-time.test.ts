import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  DAY_MS,
  dayAfter,
  firstOfMonth,
  isWallTime,
  LAST_WALL_TIME,
  lastOfMonth,
  plus,
  readWallSpan,
  readWallTime,
  secondBefore,
  wallMsBetween,
  writeWallTime,
} from "../../src/domain/wall-time.ts";
import { RUNS } from "./builders.ts";

const [FIRST, LAST] = [Date.UTC(1, 0, 1) - 1900 * 365.25 * DAY_MS, Date.UTC(9999, 11, 31, 23, 59, 59)];
/** Times in whole seconds, in the years 1 to 9999. */
const anyMs = fc.integer({ min: Math.ceil(FIRST / 1000), max: LAST / 1000 }).map((seconds) => seconds * 1000);

/** A time as Date writes it, without its zone. */
function byPlatform(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace("T", " ");
}

/** Adds months and days with Date, one by one. */
function addedByPlatform(ms: number, months: number, days: number): number {
  const date = new Date(ms);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + months);
  const lastDay = new Date(date);
  lastDay.setUTCMonth(lastDay.getUTCMonth() + 1, 0);
  date.setUTCDate(Math.min(day, lastDay.getUTCDate()));
  return date.getTime() + days * DAY_MS;
}

test("a span is read from a time with or without seconds, or a day", () => {
  const [time, minute, day] = ["2026-11-26 09:00:00", "2026-11-26 09:00", "2026-11-26"];
  expect([readWallSpan(time), readWallSpan(minute)]).toEqual([
    [time, time],
    [time, time],
  ]);
  expect(readWallSpan(day)).toEqual(["2026-11-26 00:00:00", "2026-11-26 23:59:59"]);
  for (const text of ["yesterday", "2026-11-26 09", "2026-11-26 24:00", "2026-11-26T09:00"])
    expect(readWallSpan(text), text).toBeUndefined();
});

describe("a wall time", () => {
  test("is the platform's date and time of day, to the second", () => {
    fc.assert(
      fc.property(anyMs, fc.integer({ min: 0, max: 999 }), (ms, fraction) => {
        expect(writeWallTime(ms + fraction)).toBe(byPlatform(ms));
        expect(readWallTime(byPlatform(ms))).toBe(ms);
      }),
      RUNS,
    );
  });

  test("has every day that the platform's calendar has", () => {
    const wrong: number[] = [];
    for (let ms = Date.UTC(1890, 0, 1); ms < Date.UTC(2410, 0, 1); ms += DAY_MS)
      if (readWallTime(byPlatform(ms)) !== ms || writeWallTime(ms) !== byPlatform(ms)) wrong.push(ms);
    expect(wrong).toEqual([]);
  });

  test.each([
    "2027-02-28 23:59:59",
    "2028-02-29 00:00:00",
    "2000-02-29 10:00:00",
    "0000-01-01 00:00:00",
    LAST_WALL_TIME,
  ])("may be %s", (text) => {
    expect(isWallTime(text)).toBe(true);
    expect(writeWallTime(readWallTime(text) ?? Number.NaN)).toBe(text);
  });

  test("is a day of the calendar and a time of the clock, in that one form", () => {
    const days = ["2027-02-29", "1900-02-29", "2027-04-31", "2027-00-10", "2027-13-10", "2027-01-00", "2027-1-10"];
    const times = ["24:00:00", "10:60:00", "10:00:60", "10:00", "10:00:00Z", "10:00:00.0", ""];
    const texts = [...days.map((day) => `${day} 10:00:00`), ...times.map((time) => `2027-01-10 ${time}`)];
    for (const text of [...texts, "2027-01-10T10:00:00", "12027-01-10 10:00:00", " 2027-01-10 10:00:00", ""])
      expect(isWallTime(text), text).toBe(false);
  });
});

describe("a period", () => {
  test("is added as the platform's calendar adds it: months first, and then days", () => {
    const [anyMonths, anyDays] = [fc.integer({ min: -40, max: 400 }), fc.integer({ min: -400, max: 4_000 })];
    const anyStart = fc.integer({ min: Date.UTC(1990, 0, 1) / 1000, max: Date.UTC(2200, 0, 1) / 1000 });
    fc.assert(
      fc.property(anyStart, anyMonths, anyDays, (seconds, months, days) => {
        const sum = plus(byPlatform(seconds * 1000), { months, days });
        expect(sum).toBe(byPlatform(addedByPlatform(seconds * 1000, months, days)));
      }),
      RUNS,
    );
  });

  test.each([
    ["2027-01-31 10:00:00", 1, 0, "2027-02-28 10:00:00"],
    ["2028-01-31 10:00:00", 1, 0, "2028-02-29 10:00:00"],
    ["2027-01-31 10:00:00", 1, 1, "2027-03-01 10:00:00"],
    ["2027-03-31 10:00:00", -1, 0, "2027-02-28 10:00:00"],
    ["2027-01-15 00:00:00", -1, 0, "2026-12-15 00:00:00"],
    ["2027-12-31 23:59:59", 0, 1, "2028-01-01 23:59:59"],
    ["9999-11-30 23:59:59", 1, 1, LAST_WALL_TIME],
  ])("%s and %i months and %i days are %s", (from, months, days, to) => {
    expect(plus(from, { months, days })).toBe(to);
  });

  test("that leads beyond the year 9999 sorts after everything that can be told, and stays there", () => {
    const beyond = plus(LAST_WALL_TIME, { months: 0, days: 1 });
    expect(beyond > LAST_WALL_TIME).toBe(true);
    expect(isWallTime(beyond)).toBe(false);
    expect(plus(beyond, { months: 1, days: 0 })).toBe(beyond);
    expect(wallMsBetween(LAST_WALL_TIME, beyond)).toBe(1000);
  });
});

test("between two wall times lie milliseconds, of clocks that are never changed", () => {
  expect(wallMsBetween("2027-03-28 01:00:00", "2027-03-29 01:00:00")).toBe(DAY_MS);
  expect(wallMsBetween("2027-01-01 00:00:01", "2027-01-01 00:00:00")).toBe(-1000);
});

test("the second before, and the day after, are those of the calendar", () => {
  expect(secondBefore("2028-03-01 00:00:00")).toBe("2028-02-29 23:59:59");
  expect([dayAfter("2027-12-31"), dayAfter("2028-02-28")]).toEqual(["2028-01-01", "2028-02-29"]);
});

test("a month has a first and a last day", () => {
  const bounds = (day: string) => [firstOfMonth(day), lastOfMonth(day)];
  expect(bounds("2026-12-31")).toEqual(["2026-12-01", "2026-12-31"]);
  expect(bounds("2028-02-10")).toEqual(["2028-02-01", "2028-02-29"]);
});
