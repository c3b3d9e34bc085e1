import { expect, test } from "vitest";
import { calendarOf } from "../../src/domain/calendar.ts";

test("the usual periods end today or on the last day of the month before, also over a new year and a leap day", () => {
  expect(calendarOf("2026-11-23").presets).toEqual({
    today: { from: "2026-11-23", to: "2026-11-23" },
    yesterday: { from: "2026-11-22", to: "2026-11-22" },
    week: { from: "2026-11-17", to: "2026-11-23" },
    month: { from: "2026-11-01", to: "2026-11-23" },
    lastMonth: { from: "2026-10-01", to: "2026-10-31" },
  });
  const newYear = calendarOf("2027-01-01");
  expect(newYear.presets).toMatchObject({ yesterday: { to: "2026-12-31" }, lastMonth: { from: "2026-12-01" } });
  expect([newYear.months.length, newYear.months[0], newYear.months.at(-1)]).toEqual([13, "2027-01", "2026-01"]);
  expect(calendarOf("2028-03-01").presets.lastMonth.to).toBe("2028-02-29");
});
