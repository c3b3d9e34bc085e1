import { describe, expect, test } from "vitest";
import { readCatalogueRow } from "../../src/domain/catalogue.ts";
import { readCustomerRow } from "../../src/domain/customer-row.ts";
import { identifierProblem, isPlaceholder, isWrittenNumber } from "../../src/domain/written-value.ts";
import { asJson } from "./builders.ts";

const PLACEHOLDERS = [
  ...["NULL", "null", "(null)", "[NULL]", "<null>", "\\N", "None", "nil", "undefined", " NULL ", "\tnull"],
  ...["nan", "NaN", "-nan", "NaT", "NA", "<NA>", "N/A", "n/a", "-", "--", "\u2013", "\u2014"],
  ...["#N/A", "#NA", "#N/D", "#NV", "#VALUE!", "#value!", "#REF!", "#DIV/0!", "#NAME?", "#NUM!", "#NULL!", "#SPILL!"],
  ...["#CALC!", "#GETTING_DATA", "#WERT!", "Err:502", "#####"],
];
const NUMBERS = [
  ...["1e+05", "1E+100", "1e-05", "2e5", "2.02611E+13", "2,02611E+13", "2.02611E13", "9.84E+09", "60150001022e+3"],
  ...["12403.0", "12403,00", "12403.", "-12403.0", "12,403", "20,261,120"],
];
const IDENTIFIERS = [
  ...["7001", "0001", "0", "9841000000", "60150001022e3", "00e1b2", "e5", "1e", "A1e5", "1.5", "192.168.0.1", "12,40"],
  ...["nullah", "none1", "nancy", "banana", "n", "-1", "a-", "#1", "#A-7", "sita@none", "NET-1M", "'7", "="],
];

test.each(PLACEHOLDERS)("%j is written for no value", (text) => {
  expect([isPlaceholder(text), isWrittenNumber(text)]).toEqual([true, false]);
  expect(identifierProblem(text)).toBe(`is "${text}", which programs write for no value`);
});

test.each(NUMBERS)("%j is a number that a program wrote", (text) => {
  expect([isPlaceholder(text), isWrittenNumber(text)]).toEqual([false, true]);
  expect(identifierProblem(text)).toMatch(`is "${text}", a number that a spreadsheet`);
});

test.each(IDENTIFIERS)("%j can be an identifier", (text) => {
  expect(identifierProblem(text)).toBeUndefined();
});

describe("every identifier of a file", () => {
  const fieldsOf = (reading: ReturnType<typeof readCustomerRow> | ReturnType<typeof readCatalogueRow>) =>
    reading.ok ? [] : reading.problems.map(({ field }) => field);

  test.each(["NULL", "#REF!", "12403.0", "1e+05"])("is refused if it is %j", (value) => {
    const subscription = { code: value, startdate: "2026-01-01 00:00:00", enddate: "2026-02-01 00:00:00" };
    const internet = [{ username: value, status: "active", segment: value, subscriptions: [subscription] }];
    const tv = [{ stb: value, status: "active" }];
    const row = { cuid: value, first_name: "A", last_name: "T", status: "active", connections: { tv, internet } };
    const where = "connections.internet[0]";
    expect(fieldsOf(readCustomerRow(asJson(row), { findBouquet: () => undefined }))).toEqual([
      ...["cuid", "connections.tv[0].stb", `${where}.username`],
      `${where}.subscriptions[0].code`,
    ]);
    const bouquet = { service: "tv", code: value, name: "A (MONTHLY)", price: "1", segments: [value], plan: value };
    expect(fieldsOf(readCatalogueRow(asJson(bouquet), 2))).toEqual(["code", "plan"]);
  });
});

describe("a mobile number", () => {
  const read = (mobile: string) =>
    readCustomerRow(
      asJson({ cuid: "1", first_name: "NULL", last_name: "-", mobile, status: "active", connections: {} }),
      { findBouquet: () => undefined },
    );

  test.each(PLACEHOLDERS)("that is %j is none, and names stay", (mobile) => {
    expect(read(mobile)).toMatchObject({ ok: true, value: { firstName: "NULL", lastName: "-", mobile: undefined } });
  });

  test.each(NUMBERS)("that is %j is refused, and not named", (mobile) => {
    const problem = "is a number that a spreadsheet or another program has changed: make the column text";
    expect(read(mobile)).toEqual({ ok: false, problems: [{ field: "mobile", problem }] });
  });
});
