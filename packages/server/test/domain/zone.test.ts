import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createZone, DAY_MS, isTimeZone, readDay } from "../../src/domain/wall-time.ts";
import { RUNS } from "./builders.ts";

const HOUR_MS = 3_600_000;
const utc = (text: string) => Date.parse(text);

describe("a zone says what the clock on the wall shows", () => {
  test.each([
    ["UTC", "2026-11-20T09:00:00Z", "2026-11-20 09:00:00"],
    ["Asia/Kathmandu", "2026-11-20T18:15:00Z", "2026-11-21 00:00:00"],
    ["Europe/Berlin", "2026-03-29T00:59:59Z", "2026-03-29 01:59:59"],
    ["Europe/Berlin", "2026-03-29T01:00:00Z", "2026-03-29 03:00:00"],
    ["Europe/Berlin", "2026-10-25T00:59:59Z", "2026-10-25 02:59:59"],
    ["Europe/Berlin", "2026-10-25T01:00:00Z", "2026-10-25 02:00:00"],
    ["Australia/Lord_Howe", "2026-04-04T15:00:00Z", "2026-04-05 01:30:00"],
    ["Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-31 00:00:00"],
  ])("%s at %s: %s", (name, at, wall) => {
    const zone = createZone(name);
    expect(zone.wallTime(utc(at))).toBe(wall);
    expect(zone.wallTime(utc(at) + 999)).toBe(wall);
    expect(zone.moment(utc(at))).toEqual({ instant: utc(at), wall });
  });

  test("as the platform's formatter does, whatever was asked before", () => {
    const names = ["Asia/Kathmandu", "Europe/Berlin", "America/Havana", "Australia/Lord_Howe", "Africa/Casablanca"];
    const seconds = { min: Date.UTC(1990, 0, 1) / 1000, max: Date.UTC(2090, 0, 1) / 1000 };
    const zones = new Map(names.map((name) => [name, createZone(name)]));
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.integer(seconds), (timeZone, second) => {
        const shown = new Date(second * 1000).toLocaleString("sv-SE", { timeZone });
        expect(zones.get(timeZone)?.wallTime(second * 1000)).toBe(shown);
        expect(zones.get(timeZone)?.instants(shown)).toContain(second * 1000);
      }),
      RUNS,
    );
  });
});

describe("a wall time is shown", () => {
  const berlin = createZone("Europe/Berlin");

  test("once, as a rule", () => {
    expect(berlin.instants("2026-07-01 12:00:00")).toEqual([utc("2026-07-01T10:00:00Z")]);
    expect(createZone("Asia/Kathmandu").instants("2026-11-20 00:00:00")).toEqual([utc("2026-11-19T18:15:00Z")]);
  });

  test("never where clocks skip it, and not where it is no time", () => {
    expect(berlin.instants("2026-03-29 02:30:00")).toEqual([]);
    expect(berlin.instants("2026-02-30 02:30:00")).toEqual([]);
  });

  test("twice where clocks repeat it, the earlier one first", () => {
    const both = [utc("2026-10-25T00:30:00Z"), utc("2026-10-25T01:30:00Z")];
    expect(berlin.instants("2026-10-25 02:30:00")).toEqual(both);
    expect(berlin.instants("2026-10-25 03:00:00")).toHaveLength(1);
  });
});

describe("a day of the provider's zone", () => {
  test.each([
    ["Asia/Kathmandu", "2026-11-20", 24, "2026-11-19T18:15:00.000Z"],
    ["Europe/Berlin", "2026-03-29", 23, "2026-03-28T23:00:00.000Z"],
    ["Europe/Berlin", "2026-10-25", 25, "2026-10-24T22:00:00.000Z"],
    // Clocks skip midnight: the day begins at one.
    ["Asia/Beirut", "2026-03-29", 23, "2026-03-28T22:00:00.000Z"],
    // Clocks repeat the hour before one: the day begins with the first of the two.
    ["America/Havana", "2026-11-01", 25, "2026-11-01T04:00:00.000Z"],
  ])("in %s, %s has %i hours", (name, day, hours, start) => {
    const found = readDay(day, createZone(name));
    expect(new Date(found?.start ?? 0).toISOString()).toBe(start);
    expect(((found?.end ?? 0) - (found?.start ?? 0)) / HOUR_MS).toBe(hours);
  });

  test("begins where the one before it ends, and holds exactly the times that are written with it", () => {
    const names = ["UTC", "Asia/Kathmandu", "Asia/Beirut", "America/Havana", "Europe/Berlin", "Australia/Lord_Howe"];
    const anyDay = fc.integer({ min: 0, max: 12_000 }).map((day) => Date.UTC(2000, 0, 1 + day));
    fc.assert(
      fc.property(fc.constantFrom(...names.map(createZone)), anyDay, (zone, midnight) => {
        const [text, next] = [midnight, midnight + DAY_MS].map((ms) => new Date(ms).toISOString().slice(0, 10));
        const day = readDay(text as string, zone);
        if (day === undefined) throw new Error(`${text} is no day in ${zone.name}`);
        expect(readDay(next as string, zone)?.start).toBe(day.end);
        const dates = [day.start - 1, day.start, day.end - 1, day.end].map((at) => zone.wallTime(at).slice(0, 10));
        expect([dates[1], dates[2], dates[3]]).toEqual([text, text, next]);
        expect((dates[0] as string) < (text as string)).toBe(true);
      }),
      RUNS,
    );
  });

  test.each(["2026-02-29", "2026-13-01", "20261120", "2026-11-20 10:00:00", "today", "", "2026-1-1"])(
    "%j is none",
    (text) => {
      expect(readDay(text, createZone("UTC"))).toBeUndefined();
    },
  );

  test("is none where a zone skipped it", () => {
    expect(readDay("2011-12-30", createZone("Pacific/Apia"))).toBeUndefined();
  });
});

test("a zone is known by its IANA name, and an offset is none", () => {
  const names = ["UTC", "Asia/Kathmandu", "Europe/Kyiv", "+05:45", "Asia/Nowhere", "", " UTC"];
  expect(names.filter(isTimeZone)).toEqual(["UTC", "Asia/Kathmandu", "Europe/Kyiv"]);
});
