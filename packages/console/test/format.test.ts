import { describe, expect, test } from "vitest";
import { formatMoneyInFull, NUMBER_GROUPINGS, readMoney } from "../../server/src/domain/money.ts";
import {
  formatAge,
  formatAmount,
  formatBytes,
  formatChange,
  formatCount,
  formatShort,
  formatTime,
  groupDigits,
  periodName,
  placeOf,
} from "../src/format.ts";

const KATHMANDU = "Asia/Kathmandu";

describe("what the console shows", () => {
  test("groups the digits of an amount and keeps all of them, also beyond what a number holds", () => {
    const amounts = ["0.00", "999", "1000.50", "-12345.60", "9007199254740993.01", "123456"];
    expect(amounts.map(formatAmount)).toEqual([
      "0.00",
      "999",
      "1,000.50",
      "-12,345.60",
      "9,007,199,254,740,993.01",
      "123,456",
    ]);
  });

  test("groups digits as the provider does", () => {
    groupDigits("indian");
    expect(["999", "1000", "-1234567.00", "123456789"].map(formatAmount)).toEqual([
      "999",
      "1,000",
      "-12,34,567.00",
      "12,34,56,789",
    ]);
    expect([9_999, 250_000, 12_000_000].map(formatShort)).toEqual(["9,999", "2.5L", "1.2Cr"]);
    groupDigits("western");
    expect(formatCount(1_234_567)).toBe("1,234,567");
    expect(formatShort(250_000)).toBe("250K");
  });

  test("names the month that days belong to, else their last day", () => {
    expect(periodName("2026-11-01", "2026-11-30")).toBe("November 2026");
    expect([periodName("2026-11-02", "2026-11-30"), periodName("2026-10-01", "2026-11-30")]).toEqual([
      "2026-11-30",
      "2026-11-30",
    ]);
  });

  test("prints no amount that the server cannot read", () => {
    for (const grouping of NUMBER_GROUPINGS) {
      groupDigits(grouping);
      for (let minor = 1n; minor < 10n ** 15n; minor = minor * 7n + 3n)
        expect(readMoney(formatAmount(formatMoneyInFull(minor, 2)), 2)).toBe(minor);
    }
    groupDigits("western");
  });

  test("shows instants by the provider's clock, and wall times as they are", () => {
    expect(formatTime("2026-11-23T20:20:59.999Z", KATHMANDU)).toBe("2026-11-24 02:05");
    expect(formatTime("2026-11-23 14:05:59", KATHMANDU)).toBe("2026-11-23 14:05");
  });

  test("says how long ago something was, in its largest unit", () => {
    const now = Date.parse("2026-11-23T12:00:00Z");
    const ages = ["2026-11-23T12:00:00Z", "2026-11-23T11:58:01Z", "2026-11-23T09:00:00Z", "2026-11-26T12:00:00Z"];
    expect(ages.map((of) => formatAge(of, now))).toEqual(["now", "1 minute ago", "3 hours ago", "in 3 days"]);
  });

  test("says how much more or less a figure is than before, if there was any", () => {
    const pairs = [
      [150, 100],
      [50, 100],
      [1_000, 999],
      [0, 7],
      [3, 0],
    ] as const;
    expect(pairs.map(([now, before]) => formatChange(now, before))).toEqual([
      "+50 %",
      "−50 %",
      "0 %",
      "−100 %",
      undefined,
    ]);
  });

  test("says a size in its largest unit", () => {
    const sizes = [0, 1_023, 1_024, 10_240, 3.44 * 1024 ** 3, 2 ** 50];
    expect(sizes.map(formatBytes)).toEqual(["0 bytes", "1023 bytes", "1.0 KiB", "10 KiB", "3.4 GiB", "1024 TiB"]);
  });

  test("draws wall times and days at one scale", () => {
    expect(placeOf("2026-11-24") - placeOf("2026-11-23 12:00:00")).toBe(43_200_000);
  });
});
