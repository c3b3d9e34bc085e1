import { expect, test } from "vitest";
import { doubtClock } from "../../src/domain/clock-doubt.ts";

const NEWEST = Date.UTC(2026, 10, 20);
const DAY = 86_400_000;
const kindAt = (now: number) => doubtClock(now, NEWEST)?.kind;

test("a clock is believed up to thirty days after the newest record, and up to five minutes before it", () => {
  expect([kindAt(NEWEST), kindAt(NEWEST + 30 * DAY), kindAt(NEWEST - 300_000)]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect(kindAt(NEWEST + 30 * DAY + 1)).toBe("ahead");
  expect(kindAt(NEWEST - 300_001)).toBe("behind");
});

test("where nothing is on record, nothing speaks for the clock", () => {
  expect(doubtClock(NEWEST, undefined)).toEqual({ kind: "nothing_on_record", now: NEWEST, newest: undefined });
});
