import { expect, test } from "vitest";
import { presetDays, presetOf } from "../src/periods.ts";

test("the usual periods include their last day, also across a month, a year and a leap day", () => {
  expect(presetDays("2026-11-23")).toEqual({
    today: { from: "2026-11-23", to: "2026-11-23" },
    yesterday: { from: "2026-11-22", to: "2026-11-22" },
    week: { from: "2026-11-17", to: "2026-11-23" },
    month: { from: "2026-11-01", to: "2026-11-23" },
    lastMonth: { from: "2026-10-01", to: "2026-10-31" },
  });
  expect(presetDays("2027-01-01")).toMatchObject({
    yesterday: { from: "2026-12-31" },
    lastMonth: { from: "2026-12-01", to: "2026-12-31" },
  });
  expect(presetDays("2028-03-01").lastMonth.to).toBe("2028-02-29");
});

test("days from an address are recognised as a usual period", () => {
  expect(presetOf({ from: "2026-11-17", to: "2026-11-23" }, "2026-11-23")).toBe("week");
  expect(presetOf({ from: "2026-11-17", to: "" }, "2026-11-23")).toBeUndefined();
});
