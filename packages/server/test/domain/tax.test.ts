import { describe, expect, test } from "vitest";
import { addSplits, NO_SPLIT, readShare, splitPrice, type Tax, taxesOn } from "../../src/domain/tax.ts";

const tax = (name: string, percent: string, from: string, service: Tax["service"] = "internet"): Tax => ({
  ...{ service, name, from, share: readShare(percent) ?? Number.NaN },
});
const shares = (...percents: string[]) => percents.map((percent, at) => tax(`T${at}`, percent, "2026-07-17"));
const amounts = (price: bigint, ...percents: string[]) => {
  const { base, taxes } = splitPrice(price, shares(...percents));
  return [base, ...taxes.map(({ amount }) => amount)];
};

describe("a price", () => {
  test.each([
    // TSC of 10 % on the base, VAT of 13 % on both: 14.3 % of the base.
    [113_000n, ["10", "14.3"], [90_909n, 9_091n, 13_000n]],
    [113_000n, ["13"], [100_000n, 13_000n]],
    [113_000n, [], [113_000n]],
    [1n, ["100"], [1n, 0n]],
    [3n, ["100"], [2n, 1n]],
    // Each part is rounded down, and the last one gets what is left.
    [3n, ["10", "14.3"], [2n, 0n, 1n]],
    [10n ** 15n - 1n, ["0.0001"], [999_999_000_000_999n, 999_999_000n]],
    // The exact parts are halves: no part is negative.
    [2n, ["100", "100", "100"], [1n, 1n, 0n, 0n]],
  ] as const)("of %s with taxes of %s is split into %s", (price, percents, parts) => {
    expect(amounts(price, ...percents)).toEqual(parts);
  });

  test("of any size is the sum of its parts, each rounded half up, in 0, 2 and 3 decimals", () => {
    let state = 53;
    // Xorshift: a million prices take two seconds.
    const next = (below: number) => {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      return (state >>> 0) % below;
    };
    for (let count = 0; count < 1_000_000; count += 1) {
      const unit = 10 ** ([0, 2, 3][count % 3] as number);
      const price = 1 + (next(2) === 0 ? next(100_000 * unit) : next(100) * unit);
      const own = Array.from({ length: 1 + next(3) }, (_, place) => ({ name: `T${place}`, share: 1 + next(300_000) }));
      const { base, taxes } = splitPrice(BigInt(price), own);
      const whole = own.reduce((sum, { share }) => sum + share, 1_000_000);
      const isRounded = (part: number, share: number) => {
        const over = 2 * (part * whole - price * share);
        return over > -whole && over <= whole;
      };
      let rest = price - Number(base);
      let isRight = isRounded(Number(base), 1_000_000);
      for (const [place, tax] of taxes.entries()) {
        const amount = Number(tax.amount);
        isRight &&= amount >= 0 && (amount === rest || isRounded(amount, own[place]?.share ?? 0));
        rest -= amount;
      }
      if (!isRight || rest !== 0) expect.fail(`${price} with ${JSON.stringify(own)}: ${base}, and ${rest} is left`);
    }
  });
});

describe("taxes of a day", () => {
  const all = [
    ...[tax("VAT", "13", "2026-07-17"), tax("VAT", "14.3", "2026-08-01"), tax("VAT", "0", "2027-01-01")],
    ...[tax("TSC", "10", "2026-08-01"), tax("TSC", "11", "2026-07-17", "tv")],
  ];
  test.each([
    ["internet", "2026-07-16", []],
    ["internet", "2026-07-17", ["VAT 130000"]],
    ["internet", "2026-07-31", ["VAT 130000"]],
    ["internet", "2026-08-01", ["TSC 100000", "VAT 143000"]],
    ["internet", "2027-01-01", ["TSC 100000"]],
    ["tv", "2027-01-01", ["TSC 110000"]],
    ["iptv", "2027-01-01", []],
  ] as const)("of %s on %s are %j, in any order", (service, day, found) => {
    for (const taxes of [all, all.toReversed()])
      expect(taxesOn(service, day, taxes).map(({ name, share }) => `${name} ${share}`)).toEqual(found);
  });
});

test.each([
  ["14.3", 143_000],
  ["100", 1_000_000],
  ["0", 0],
  ["0.0001", 1],
  ["0.00001", undefined],
  ["100.0001", undefined],
  ["-1", undefined],
  ["10%", undefined],
])("the share %s is read as %s millionths", (text, share) => {
  expect(readShare(text)).toBe(share);
});

test("splits add up by name, and to nothing known if one is unknown", () => {
  const [first, second] = [splitPrice(113_000n, shares("13")), splitPrice(100n, [...shares("0.5", "10")])];
  expect(addSplits(addSplits(NO_SPLIT, first, 2), second, -1)).toEqual({
    base: 200_000n - second.base,
    taxes: [
      { name: "T0", amount: 26_000n - (second.taxes[0]?.amount ?? 0n) },
      { name: "T1", amount: -(second.taxes[1]?.amount ?? 0n) },
    ],
  });
});
