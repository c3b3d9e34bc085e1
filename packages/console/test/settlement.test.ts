import { expect, test } from "vitest";
import { sumAmounts } from "../src/amounts.ts";
import { daysOf } from "../src/pages/settlement/days.ts";
import { type Difference, differencesCsv } from "../src/pages/settlement/differences-csv.ts";

test("amounts are added with all digits, beyond what floating point holds", () => {
  expect(sumAmounts(["0.10", "0.20"])).toBe("0.30");
  expect(sumAmounts(["9007199254740993.01", "0.02"])).toBe("9007199254740993.03");
  expect(sumAmounts(["1.00", "-3.05"])).toBe("-2.05");
  expect(sumAmounts(["0.05", "-0.10"])).toBe("-0.05");
  expect(sumAmounts(["1200", "30"])).toBe("1230");
  expect(sumAmounts([])).toBe("0");
});

test("a month goes to its last day, and the present one to today", () => {
  const none = { from: "", to: "" };
  expect(daysOf({ period: "2026-10", ...none }, "2026-11-23")).toEqual({ from: "2026-10-01", to: "2026-10-31" });
  expect(daysOf({ period: "2024-02", ...none }, "2026-11-23")).toEqual({ from: "2024-02-01", to: "2024-02-29" });
  expect(daysOf({ period: "", ...none }, "2026-11-23")).toEqual({ from: "2026-11-01", to: "2026-11-23" });
  expect(daysOf({ period: "days", from: "2026-11-02", to: "2026-11-03" }, "2026-11-23")).toEqual({
    from: "2026-11-02",
    to: "2026-11-03",
  });
});

test("a spreadsheet takes no cell of the differences for a formula, and amounts stay numbers", () => {
  const none = { theirAmount: null, theirStatus: null, ourAmount: null, ourStatus: null, txnId: null };
  const rest = {
    ...none,
    checkoutId: null,
    cuid: null,
    customer: null,
    txnDate: null,
    at: null,
    problem: 'has "x", y',
  };
  const difference: Difference = { verdict: "unreadable", line: 2, key: "=1+1", ...rest };
  expect(
    differencesCsv([difference, { ...difference, key: "-5.00" }, { ...difference, key: "\u00a0=1;@x" }])
      .split("\r\n")
      .slice(1),
  ).toEqual([
    `unreadable,2,'=1+1,,,,,,,,,"has ""x"", y"`,
    'unreadable,2,-5.00,,,,,,,,,"has ""x"", y"',
    `unreadable,2,'\u00a0=1;'@x,,,,,,,,,"has ""x"", y"`,
    "",
  ]);
});
