import { expect, test } from "vitest";
import { type Difference, differencesCsv } from "../src/pages/settlement/differences-csv.ts";

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
