import { describe, expect, test } from "vitest";
import { isCountry, mobileNumbersOf } from "../../src/domain/names.ts";

const normalise = mobileNumbersOf("NP");

describe("a mobile number", () => {
  test("is the same one however people and telephones write it", () => {
    const plain = ["+977 9841000000", "+977-984-100-0000", "977-9841000000", "9841000000", "(984) 100-0000"];
    const unseen = [" 9841000000\u00a0", "984\u2013100\u20110000", "9841\u2212000000", "\u202a+977 984-1000000\u202c"];
    const arabic = "\u0669\u0668\u0664\u0661\u0660\u0660\u0660\u0660\u0660\u0660";
    const devanagari = "\u096f\u096e\u096a\u0967\u0966\u0966\u0966\u0966\u0966\u0966";
    const all = [...plain, "009779841000000", ...unseen, arabic, devanagari];
    for (const text of [...all, ...all]) expect(normalise(text), text).toBe("+9779841000000");
  });

  test("of another country is that country's", () => {
    expect(normalise("+44 7400 123456")).toBe("+447400123456");
    expect(mobileNumbersOf("GB")("07400 123456")).toBe("+447400123456");
    expect(mobileNumbersOf("GB")("9841000000")).toBeUndefined();
  });

  test("is nothing else that looks like a number or holds one", () => {
    const others = ["204117", "007700000000001", "junk9841000000", "9841000000 ext 3", "9841000000;ext=1", "+", ""];
    for (const text of ["maya.rai", ...others]) expect(normalise(text), text).toBeUndefined();
  });

  test("is told in one form, however many others were asked for", () => {
    for (let number = 0; number < 10_050; number += 1) normalise(`98420${String(number).padStart(5, "0")}`);
    expect(normalise("9841000000")).toBe("+9779841000000");
  });
});

test("a country is known by its two capital letters", () => {
  expect(["NP", "np", "XX", ""].filter(isCountry)).toEqual(["NP"]);
});
