import { expect, test } from "vitest";
import { endWithout } from "../../src/domain/run-without.ts";
import { at, UTC } from "./builders.ts";

test.each([
  ["a month of two", { months: 2, days: 0, seconds: 0 }, { months: 1, days: 0 }, "2026-02-01"],
  [
    "the month, with days and seconds left",
    { months: 1, days: 3, seconds: 30 },
    { months: 1, days: 0 },
    "2026-01-04T00:00:30Z",
  ],
  [
    "30 days of what is a month and a day in records",
    { months: 1, days: 1, seconds: 0 },
    { months: 0, days: 30 },
    "2026-01-03",
  ],
  ["a month of 33 days", { months: 0, days: 33, seconds: 0 }, { months: 1, days: 0 }, "2026-01-03"],
  ["two months of a month and 33 days", { months: 1, days: 33, seconds: 0 }, { months: 2, days: 0 }, "2026-01-03"],
  ["more than there is", { months: 0, days: 30, seconds: 0 }, { months: 3, days: 0 }, "2026-01-01"],
])("without %s, a run ends that much earlier, and never before it begins", (_, span, part, end) => {
  expect(new Date(endWithout({ start: at("2026-01-01"), span }, part, UTC))).toEqual(new Date(end));
});
