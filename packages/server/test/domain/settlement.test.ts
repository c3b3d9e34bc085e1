import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  addTotals,
  NOTHING_SETTLED,
  netOf,
  SETTLEMENT_DETAILS,
  type SettlementSum,
  type SettlementTotal,
  settleDay,
} from "../../src/domain/settlement.ts";
import { RUNS } from "./builders.ts";

const DAY = "2026-11-20";

const sum = (partnerId: number, service: SettlementSum["service"], bouquetCode: string, count = 1, amount = 100n) => ({
  ...{ partnerId, service, bouquetCode, count, amount },
});

const anySums: fc.Arbitrary<SettlementSum[]> = fc.uniqueArray(
  fc.record({
    partnerId: fc.integer({ min: 1, max: 3 }),
    service: fc.constantFrom("tv", "internet", "iptv"),
    bouquetCode: fc.constantFrom("A", "B", "__proto__", "A,B"),
    count: fc.integer({ min: 1, max: 1_000 }),
    amount: fc.bigInt({ min: 1n, max: 10n ** 24n }),
  }),
  { selector: ({ partnerId, service, bouquetCode }) => JSON.stringify([partnerId, service, bouquetCode]) },
);

describe("the settlement of a day", () => {
  test("has a line for each partner, service and bouquet, in that order, and reversals beside top-ups", () => {
    const topUps = [sum(2, "tv", "TV-1M"), sum(1, "tv", "TV-1M"), sum(1, "internet", "NET-3M", 2, 700n)];
    const reversals = [sum(1, "tv", "TV-1M", 1, 60n), sum(1, "internet", "NET-1M", 3, 900n)];
    const line = (partnerId: number, service: string, bouquetCode: string, total: Partial<SettlementTotal>) => ({
      ...{ day: DAY, partnerId, service, bouquetCode, ...NOTHING_SETTLED, ...total },
    });
    expect(settleDay(DAY, topUps, reversals, "bouquet")).toEqual([
      line(1, "internet", "NET-1M", { reversals: 3, reversed: 900n }),
      line(1, "internet", "NET-3M", { topUps: 2, gross: 700n }),
      line(1, "tv", "TV-1M", { topUps: 1, gross: 100n, reversals: 1, reversed: 60n }),
      line(2, "tv", "TV-1M", { topUps: 1, gross: 100n }),
    ]);
  });

  test("is negative where more was taken back than topped up", () => {
    const [line] = settleDay(DAY, [], [sum(1, "tv", "TV-1M", 1, 45_000n)], "bouquet");
    expect(netOf(line ?? NOTHING_SETTLED)).toBe(-45_000n);
    expect(settleDay(DAY, [], [], "day")).toEqual([]);
  });

  test("comes to the same for every partner, to the minor unit, however fine its lines are", () => {
    fc.assert(
      fc.property(anySums, anySums, (topUps, reversals) => {
        for (const detail of SETTLEMENT_DETAILS) {
          const lines = settleDay(DAY, topUps, reversals, detail);
          const labels = lines.map(({ partnerId, service, bouquetCode }) => [partnerId, service, bouquetCode]);
          expect(new Set(labels.map((label) => JSON.stringify(label))).size).toBe(lines.length);
          for (const partnerId of [1, 2, 3]) {
            const total = lines.filter((line) => line.partnerId === partnerId).reduce(addTotals, NOTHING_SETTLED);
            expect([total.topUps, total.gross]).toEqual(plainTotal(topUps, partnerId));
            expect([total.reversals, total.reversed]).toEqual(plainTotal(reversals, partnerId));
          }
        }
      }),
      RUNS,
    );
  });
});

function plainTotal(sums: readonly SettlementSum[], partnerId: number): [count: number, amount: bigint] {
  const its = sums.filter((one) => one.partnerId === partnerId);
  return [its.reduce((count, one) => count + one.count, 0), its.reduce((amount, one) => amount + one.amount, 0n)];
}
