import { describe, expect, test } from "vitest";
import { readAsOf } from "../../src/domain/ledger-import.ts";
import { createZone, DAY_MS } from "../../src/domain/wall-time.ts";

const NOW = Date.parse("2026-11-23T09:00:00Z");

function read(
  text: string,
  more: { timeZone?: string; allowsOld?: boolean; prunedBefore?: number; now?: number } = {},
) {
  const { timeZone = "Asia/Kathmandu", allowsOld = false, prunedBefore, now = NOW } = more;
  return readAsOf(text, { zone: createZone(timeZone), now, allowsOld, prunedBefore });
}

describe("up to when records hold what was made here", () => {
  test.each([
    ["2026-11-23T02:00:00Z", "2026-11-23T02:00:00.000Z"],
    ["2026-11-23T02:00:00.123Z", "2026-11-23T02:00:00.123Z"],
    ["2026-11-23 02:00:00", "2026-11-22T20:15:00.000Z"],
    ["2026-11-23 02:00", "2026-11-22T20:15:00.000Z"],
  ])("is read from %s as %s", (text, instant) => {
    const asOf = read(text);
    if (typeof asOf === "string") throw new Error(asOf);
    expect(new Date(asOf.instant).toISOString()).toBe(instant);
    expect(asOf.wall).toBe(createZone("Asia/Kathmandu").wallTime(asOf.instant));
  });

  test("is not read from anything else", () => {
    const forms = ["", "yesterday", "2026-11-23", "2026-11-23T02:00:00", "2026-11-23T02:00:00+05:45"];
    const noTimes = ["2026-02-30T02:00:00Z", "2026-13-01 02:00:00", "2026-11-23T24:00:00Z", "2026-11-23T02:60:00Z"];
    for (const text of [...forms, "2026-11-23 02:00:00Z", ...noTimes]) expect(read(text), text).toBe("unreadable");
  });

  test("is refused where clocks skip a time of the wall, or show it twice, but not where it is said in UTC", () => {
    const more = { timeZone: "Europe/Berlin", now: Date.parse("2026-10-26T09:00:00Z") };
    expect(read("2026-10-25 02:30:00", more)).toBe("twice");
    expect(read("2026-10-25T01:30:00Z", more)).toMatchObject({ wall: "2026-10-25 02:30:00" });
    expect(read("2026-03-29 02:30:00", { ...more, allowsOld: true })).toBe("never");
  });

  test("is a minute ago or longer, and no more than 35 days unless that is meant", () => {
    const iso = (instant: number) => new Date(instant).toISOString();
    expect(read(iso(NOW - 60_000))).toMatchObject({ instant: NOW - 60_000 });
    expect(read(iso(NOW - 59_999))).toBe("too_young");
    expect(read(iso(NOW + DAY_MS))).toBe("too_young");
    expect(read(iso(NOW - 35 * DAY_MS))).toMatchObject({ instant: NOW - 35 * DAY_MS });
    expect(read(iso(NOW - 35 * DAY_MS - 1))).toBe("too_old");
    expect(read(iso(NOW - 99 * DAY_MS), { allowsOld: true })).toMatchObject({ instant: NOW - 99 * DAY_MS });
  });

  test("is never from before the horizon", () => {
    const prunedBefore = Date.parse("2026-09-01T00:00:00Z");
    expect(read("2026-09-01T00:00:00Z", { prunedBefore, allowsOld: true })).toMatchObject({ instant: prunedBefore });
    expect(read("2026-08-31T23:59:59.999Z", { prunedBefore, allowsOld: true })).toBe("pruned");
  });
});
