import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readAmount, shortestAmount } from "../src/amounts.ts";
import { fromMinorUnits, toMinorUnits } from "../src/index.ts";
import { readJson } from "../src/read-json.ts";

const exponents = fc.integer({ min: 0, max: 9 });

describe("an amount", () => {
  test("is the same after minor units and back", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 20n }), exponents, (minorUnits, exponent) => {
        expect(toMinorUnits(fromMinorUnits(minorUnits, exponent), exponent)).toBe(minorUnits);
      }),
    );
  });

  test.each([
    [113_000n, 2, "1130"],
    [284_715n, 2, "2847.15"],
    [5n, 2, "0.05"],
    [0n, 2, "0"],
    [7n, 0, "7"],
  ])("of %s minor units and %i decimals is written %s", (minorUnits, exponent, text) => {
    expect(fromMinorUnits(minorUnits, exponent)).toBe(text);
  });

  test.each(["1130", "1130.0", "1130.00", "01130.00"])("written %s is 1130", (text) => {
    expect(shortestAmount(text)).toBe("1130");
    expect(toMinorUnits(text, 2)).toBe(113_000n);
  });

  test.each(["", " 1", "-1", "+1", "1e3", "1.", ".5", "1,130", "NaN", "Infinity", "0x10", "١", "9".repeat(41)])(
    "written %j is refused",
    (text) => {
      expect(shortestAmount(text)).toBeUndefined();
      expect(() => toMinorUnits(text, 2)).toThrow(RangeError);
    },
  );

  test("with more decimals than the currency has is refused rather than rounded", () => {
    expect(() => toMinorUnits("1.005", 2)).toThrow("at most 2 decimals");
    expect(toMinorUnits("1.500", 2)).toBe(150n);
  });

  test.each([-1, 0.5, 10, Number.NaN])("with %d decimals is refused", (exponent) => {
    expect(() => toMinorUnits("1", exponent)).toThrow(RangeError);
    expect(() => fromMinorUnits(1n, exponent)).toThrow(RangeError);
  });

  test("below nothing is refused", () => {
    expect(() => fromMinorUnits(-1n, 2)).toThrow(RangeError);
  });
});

describe("an amount of an answer", () => {
  test("is read exactly from every JSON number that topupd can send", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 15n - 1n }), fc.integer({ min: 0, max: 4 }), (minor, exponent) => {
        const text = fromMinorUnits(minor, exponent);
        expect(readAmount(readJson(String(Number(text))))).toBe(text);
      }),
    );
  });

  test.each([
    ["1130", "1130"],
    ["1130.00", "1130"],
    ['"1130.50"', "1130.5"],
    ["0", "0"],
    ["-0", "0"],
    ["999999999999999", "999999999999999"],
    ["1130.000000000000000000", "1130"],
    ["1e3", "1000"],
  ])("sent as %s is %s", (json, amount) => {
    expect(readAmount(readJson(json))).toBe(amount);
  });

  test.each([
    "1000000000000000",
    "9007199254740993",
    "1130.0000000000000001",
    "0.30000000000000004",
    "1e400",
    "1e21",
    "1e-7",
    "-1",
    '"1130,50"',
    '"1.2345678901234567"',
    '""',
    "null",
    "true",
    "[1130]",
    "{}",
  ])("sent as %s is not guessed at", (json) => {
    expect(readAmount(readJson(json))).toBeUndefined();
  });
});

test("long digits in strings are left alone", () => {
  const value = { "12345678901234567890": "a 12345678901234567890", escaped: '\\"1234567890123456789', list: [1, 2.5] };
  expect(readJson(JSON.stringify(value))).toEqual(value);
});

test("a double that was written with more digits than it has is what it is", () => {
  expect(readAmount("2847.1500000000001")).toBe("2847.15");
  expect(readAmount("12345678901234567")).toBeUndefined();
});

test("the helpers take no floats", () => {
  expect(() => toMinorUnits(1130.1 as unknown as string, 2)).toThrow(TypeError);
  expect(() => fromMinorUnits(5.5 as unknown as bigint, 2)).toThrow(TypeError);
});
