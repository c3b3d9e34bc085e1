import { describe, expect, test } from "vitest";
import { type CommissionRule, commissionOf, withRule } from "../../src/domain/commission.ts";

const TODAY = "2026-11-20";
const rule = (changes: Partial<CommissionRule>): CommissionRule => ({
  service: undefined,
  bouquetCode: undefined,
  percent: undefined,
  fixed: undefined,
  from: "2026-01-01",
  ...changes,
});
const sale = (amount: bigint) => ({ service: "internet", bouquetCode: "NET-1M", amount }) as const;

describe("commission", () => {
  test.each([
    [10_000n, 200, 200n],
    [125n, 200, 3n],
    [124n, 200, 2n],
    [1n, 5_000, 1n],
    [1n, 4_999, 0n],
    [999n, 10_000, 999n],
    [10_001n, 1, 1n],
  ])("of %s is rounded half up: %s hundredths of a percent are %s", (amount, percent, commission) => {
    expect(commissionOf([rule({ percent })], sale(amount), TODAY)).toBe(commission);
  });

  test("is never more than the price", () => {
    expect(commissionOf([rule({ fixed: 2_000n })], sale(1_500n), TODAY)).toBe(1_500n);
    expect(commissionOf([rule({ fixed: 2_000n })], sale(3_000n), TODAY)).toBe(2_000n);
  });

  test("has one rule of a scope and day, and none that can never apply again", () => {
    const [old, now, later] = [
      rule({ percent: 100 }),
      rule({ percent: 200, from: TODAY }),
      rule({ from: "2026-12-01" }),
    ];
    const tv = rule({ service: "tv", percent: 50 });
    const add = (...rules: CommissionRule[]) =>
      rules.reduce((all, each) => withRule(all, each, TODAY), [] as readonly CommissionRule[]);
    expect(add(later, tv, old, now)).toEqual([tv, now, later]);
    expect(add(old, later)).toEqual([old, later]);
    const again = { ...now, percent: 0 };
    expect(add(old, now, again)).toEqual([again]);
    expect(add(old, { ...now, bouquetCode: "TV-1M" })).toHaveLength(2);
  });

  test("follows the most specific rule of the day, and of those the one that began last", () => {
    const rules = [
      rule({ bouquetCode: "NET-1M", percent: 300, from: "2026-11-20" }),
      rule({ service: "internet", percent: 200 }),
      rule({ percent: 150, from: "2026-06-01" }),
      rule({ percent: 100 }),
    ];
    const of = (bouquetCode: string, day: string, service: "internet" | "tv" = "internet") =>
      commissionOf(rules, { service, bouquetCode, amount: 10_000n }, day);
    expect(of("NET-1M", "2026-11-20")).toBe(300n);
    expect(of("NET-1M", "2026-11-19")).toBe(200n);
    expect(of("NET-3M", "2026-11-20")).toBe(200n);
    expect(of("TV-1M", "2026-11-20", "tv")).toBe(150n);
    expect(of("TV-1M", "2026-05-31", "tv")).toBe(100n);
    expect(of("TV-1M", "2025-12-31", "tv")).toBe(0n);
  });

  test("of a rule that replaces another of the same day is that of the later rule", () => {
    expect(commissionOf([rule({ percent: 100 }), rule({ percent: 0 })], sale(10_000n), TODAY)).toBe(0n);
  });
});
