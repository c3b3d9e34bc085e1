import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  formatMoney,
  formatMoneyInFull,
  MAX_CURRENCY_EXPONENT,
  moneyToJson,
  parseMoney,
  readMoney,
} from "../../src/domain/money.ts";
import { RUNS } from "./builders.ts";

const EXPONENTS = [0, 1, 2, 3, 4];
const LIMIT = 10n ** 15n;

const anyMoney = fc.bigInt({ min: 0n, max: LIMIT - 1n });
const anyExponent = fc.integer({ min: 0, max: MAX_CURRENCY_EXPONENT });

describe("an amount of money", () => {
  test.each([
    ["1130", 113_000n],
    ["1130.0", 113_000n],
    ["1130.00", 113_000n],
    ["0", 0n],
    ["0.05", 5n],
    ["2847.15", 284_715n],
    ["9999999999999.99", LIMIT - 1n],
  ])("is exact when it is written %s", (text, minor) => {
    expect(parseMoney(text, 2)).toBe(minor);
  });

  test.each(EXPONENTS)("may have as many decimals as a currency of %i decimals, and not one more", (exponent) => {
    const point = exponent === 0 ? "" : ".";
    expect(parseMoney(`7${point}${"1".repeat(exponent)}`, exponent)).toBe(BigInt(`7${"1".repeat(exponent)}`));
    expect(parseMoney(`7.${"1".repeat(exponent + 1)}`, exponent)).toBeUndefined();
    expect(parseMoney(`7.${"0".repeat(exponent + 1)}`, exponent)).toBeUndefined();
  });

  test.each([
    ["a sign", ["-1", "+1", "-0", "−1"]],
    ["an exponent", ["1e3", "1E3", "1e-2", "1.5e1"]],
    ["a blank", ["", " ", " 1", "1 ", "1 130", "1\n", "\t1"]],
    ["a leading zero", ["00", "01", "0113", "00.5"]],
    ["half a decimal point", ["1.", ".5", "."]],
    ["two decimal points", ["1.1.1", "1..1"]],
    ["a separator", ["1,130", "1_130", "1130,00", "1'130"]],
    ["no number", ["NaN", "Infinity", "abc", "0x10", "1n", "null"]],
    ["digits of another script", ["१", "１", "٣"]],
  ])("is refused when it has %s", (_what, texts) => {
    expect(texts.filter((text) => parseMoney(text, 2) !== undefined)).toEqual([]);
  });

  test("may be typed in groups as pages print them, and in no others", () => {
    for (const text of ["80,00,000", "8,000,000", "8000000", "80,00,000.00", "8,000,000.5"])
      expect(readMoney(text, 2)).toBe(text.endsWith(".5") ? 800_000_050n : 800_000_000n);
    const wrong = ["80,00,00", "8,00", "8000,000", ",800", "8,000,", "0,500", "1,000.50,5", "8, 000", "8.000,00"];
    expect(wrong.filter((text) => readMoney(text, 2) !== undefined)).toEqual([]);
  });

  test("in a currency of three decimals, groups need their decimals: 12,500 could mean 12.500", () => {
    expect([readMoney("12,500", 3), readMoney("12,500.000", 3), readMoney("12500", 3)]).toEqual([
      undefined,
      12_500_000n,
      12_500_000n,
    ]);
  });

  test.each(EXPONENTS)("is refused from 10^15 minor units on in a currency of %i decimals", (exponent) => {
    expect(parseMoney(formatMoney(LIMIT - 1n, exponent), exponent)).toBe(LIMIT - 1n);
    expect(parseMoney(formatMoney(LIMIT, exponent), exponent)).toBeUndefined();
    expect(parseMoney("9".repeat(10_000), exponent)).toBeUndefined();
  });

  test.each([
    [113_000n, 2, "1130"],
    [284_715n, 2, "2847.15"],
    [5n, 2, "0.05"],
    [0n, 2, "0"],
    [1130n, 0, "1130"],
    [10_000n, 4, "1"],
  ])("of %s minor units with %i decimals is written %s", (minor, exponent, text) => {
    expect(formatMoney(minor, exponent)).toBe(text);
  });

  test("is the same after it was written, shortly, in full or as a JSON number, and read again", () => {
    fc.assert(
      fc.property(anyMoney, anyExponent, (minor, exponent) => {
        expect(parseMoney(formatMoney(minor, exponent), exponent)).toBe(minor);
        expect(parseMoney(JSON.stringify(moneyToJson(minor, exponent)), exponent)).toBe(minor);
        const full = formatMoneyInFull(minor, exponent);
        expect(parseMoney(full, exponent)).toBe(minor);
        expect(full.split(".")[1]?.length ?? 0).toBe(exponent);
      }),
      RUNS,
    );
  });
});

describe("an amount in full", () => {
  test.each([
    [0n, 2, "0.00"],
    [5n, 2, "0.05"],
    [-5n, 2, "-0.05"],
    [-7n, 0, "-7"],
    [10n ** 24n, 4, "100000000000000000000.0000"],
  ])("of %s minor units with %s decimals is %s", (minor, exponent, text) => {
    expect(formatMoneyInFull(minor, exponent)).toBe(text);
  });
});
