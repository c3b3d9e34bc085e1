import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { addSums, NO_SALES, type SaleSums } from "../../src/domain/account.ts";
import {
  type DaySales,
  NOTHING_SETTLED,
  netOf,
  SETTLEMENT_DETAILS,
  type SettledSums,
  settleDay,
  settlementNumber,
  splitSales,
} from "../../src/domain/settlement.ts";
import { NO_SPLIT, readShare } from "../../src/domain/tax.ts";
import { RUNS } from "./builders.ts";

const DAY = "2026-11-20";

const LABEL = { day: DAY, environment: "production", amount: 100n, soldOn: DAY } as const;
const NOTHING = { ...LABEL, ...NOTHING_SETTLED };
const sold = (partnerId: number, service: DaySales["service"], bouquetCode: string, topUps = 1, gross = 100n) => ({
  ...{ ...NOTHING, partnerId, service, bouquetCode, topUps, gross, commission: gross / 10n },
});
const reversed = (partnerId: number, service: DaySales["service"], bouquetCode: string, reversals = 1, of = 100n) => ({
  ...{ ...NOTHING, partnerId, service, bouquetCode, reversals, reversed: of, returned: of / 10n },
});

const anySales: fc.Arbitrary<(DaySales & SettledSums)[]> = fc.array(
  fc.record({
    day: fc.constant(DAY),
    environment: fc.constant("production"),
    partnerId: fc.integer({ min: 1, max: 3 }),
    service: fc.constantFrom("tv", "internet", "iptv"),
    bouquetCode: fc.constantFrom("A", "B", "__proto__", "A,B"),
    amount: fc.constantFrom(100n, 113_000n),
    soldOn: fc.constant(DAY),
    split: fc.constant(NO_SPLIT),
    topUps: fc.integer({ min: 0, max: 1_000 }),
    gross: fc.bigInt({ min: 0n, max: 10n ** 24n }),
    commission: fc.bigInt({ min: 0n, max: 10n ** 24n }),
    reversals: fc.integer({ min: 0, max: 1_000 }),
    reversed: fc.bigInt({ min: 0n, max: 10n ** 24n }),
    returned: fc.bigInt({ min: 0n, max: 10n ** 24n }),
  }),
);

describe("the settlement of a day", () => {
  test("has a line for each partner, service and bouquet, in that order, and reversals beside top-ups", () => {
    const topUps = [sold(2, "tv", "TV-1M"), sold(1, "tv", "TV-1M"), sold(1, "internet", "NET-3M", 2, 700n)];
    const reversals = [reversed(1, "tv", "TV-1M", 1, 60n), reversed(1, "internet", "NET-1M", 3, 900n)];
    const line = (partnerId: number, service: string, bouquetCode: string, total: Partial<SaleSums>) => ({
      ...{ day: DAY, partnerId, service, bouquetCode, ...NOTHING_SETTLED, ...total },
    });
    expect(settleDay([...topUps, ...reversals], "bouquet")).toEqual([
      line(1, "internet", "NET-1M", { reversals: 3, reversed: 900n, returned: 90n }),
      line(1, "internet", "NET-3M", { topUps: 2, gross: 700n, commission: 70n }),
      line(1, "tv", "TV-1M", { topUps: 1, gross: 100n, reversals: 1, reversed: 60n, commission: 10n, returned: 6n }),
      line(2, "tv", "TV-1M", { topUps: 1, gross: 100n, commission: 10n }),
    ]);
  });

  test("is negative where more was taken back than topped up", () => {
    const [line] = settleDay([reversed(1, "tv", "TV-1M", 1, 45_000n)], "bouquet");
    expect(netOf(line ?? NO_SALES)).toBe(-40_500n);
    expect(settleDay([], "day")).toEqual([]);
  });

  test("comes to the same for every partner, to the minor unit, however fine its lines are", () => {
    fc.assert(
      fc.property(anySales, (sales) => {
        for (const detail of SETTLEMENT_DETAILS) {
          const lines = settleDay(sales, detail);
          const labels = lines.map(({ partnerId, service, bouquetCode }) => [partnerId, service, bouquetCode]);
          expect(new Set(labels.map((label) => JSON.stringify(label))).size).toBe(lines.length);
          for (const partnerId of [1, 2, 3]) {
            const total = lines.filter((line) => line.partnerId === partnerId).reduce<SaleSums>(addSums, NO_SALES);
            const its = sales.filter((one) => one.partnerId === partnerId);
            expect(total).toMatchObject(its.reduce<SaleSums>(addSums, NO_SALES));
          }
        }
      }),
      RUNS,
    );
  });
});

test("a reversal returns the taxes of the day on which its top-up was sold", () => {
  const vat = (percent: string, from: string) => {
    return { service: "internet", name: "VAT", share: readShare(percent) ?? Number.NaN, from } as const;
  };
  const taxes = [vat("13", "2026-11-20"), vat("25", "2026-11-21")];
  const sales = { ...NOTHING, partnerId: 1, service: "internet", bouquetCode: "NET-1M", amount: 113_000n } as const;
  const splitOn = (more: Partial<DaySales>) => splitSales({ ...sales, ...more }, taxes);
  expect(splitOn({ topUps: 2 })).toEqual({ base: 200_000n, taxes: [{ name: "VAT", amount: 26_000n }] });
  const later = { day: "2026-11-21", reversals: 1 };
  expect(splitOn(later)).toEqual({ base: -100_000n, taxes: [{ name: "VAT", amount: -13_000n }] });
  const sameDay = { ...later, soldOn: "2026-11-21" };
  expect(splitOn(sameDay)).toEqual({ base: -90_400n, taxes: [{ name: "VAT", amount: -22_600n }] });
});

test.each([
  ["2026-11-01", "2026-11-30", "production", "2026-11-P7"],
  ["2028-02-01", "2028-02-29", "production", "2028-02-P7"],
  ["2027-12-01", "2027-12-31", "trial", "2027-12-P7-T"],
  ["2028-02-01", "2028-02-28", "production", "20280201-20280228-P7"],
  ["2026-11-01", "2026-12-31", "production", "20261101-20261231-P7"],
  ["2026-11-02", "2026-11-30", "production", "20261102-20261130-P7"],
  ["2026-11-15", "2026-11-15", "trial", "20261115-20261115-P7-T"],
] as const)("the settlement of %s to %s in %s has the number %s", (from, to, environment, number) => {
  expect(settlementNumber({ from, to, partnerId: 7, environment })).toBe(number);
});
