import { describe, expect, test } from "vitest";
import type { Bouquet } from "../../src/domain/bouquet.ts";
import { createCalendar } from "../../src/domain/calendar.ts";
import { at, fold, MONTHLY, QUARTERLY, topUp, UTC } from "./builders.ts";

const YEARLY: Bouquet = { ...MONTHLY, code: "NET-12M", period: { months: 12, days: 0 } };

/** The ends, as they follow each other when one bouquet is bought again and again in the first days. */
function endsOf(start: string, bouquets: readonly Bouquet[]): string[] {
  const grants = bouquets.map((bouquet, index) => topUp(at(start) + index * 1000, bouquet));
  return grants.map((_, index) => UTC.format(fold(grants.slice(0, index + 1)).end).slice(0, 10));
}

describe("a subscription that began at a month's end", () => {
  test("ends on the last of February, and after a renewal on 31 March", () => {
    expect(endsOf("2026-01-31", [MONTHLY, MONTHLY])).toEqual(["2026-02-28", "2026-03-31"]);
  });

  test("ends on 29 February in a leap year, and after a renewal on 31 March", () => {
    expect(endsOf("2028-01-31", [MONTHLY, MONTHLY])).toEqual(["2028-02-29", "2028-03-31"]);
  });

  test("goes back to its own day after every short month", () => {
    const ends = ["2026-11-30", "2026-12-31", "2027-01-31", "2027-02-28", "2027-03-31"];
    expect(endsOf("2026-10-31", [MONTHLY, MONTHLY, MONTHLY, MONTHLY, MONTHLY])).toEqual(ends);
  });

  test("ends on the same day whether it was bought by the month or by the quarter", () => {
    expect(endsOf("2026-01-31", [MONTHLY, MONTHLY, MONTHLY]).at(-1)).toBe("2026-04-30");
    expect(endsOf("2026-01-31", [QUARTERLY]).at(-1)).toBe("2026-04-30");
  });

  test("comes back to 29 February every fourth year when it is renewed by the year", () => {
    const ends = ["2029-02-28", "2030-02-28", "2031-02-28", "2032-02-29"];
    expect(endsOf("2028-02-29", [YEARLY, YEARLY, YEARLY, YEARLY])).toEqual(ends);
  });

  test("is counted by the provider's date, where that is not the date in UTC", () => {
    const kathmandu = createCalendar("Asia/Kathmandu");
    const grants = [topUp("2026-01-31T00:15:00+05:45"), topUp("2026-02-01T12:00:00+05:45")];
    expect(fold(grants.slice(0, 1), kathmandu).end).toBe(at("2026-02-28T00:15:00+05:45"));
    expect(fold(grants, kathmandu).end).toBe(at("2026-03-31T00:15:00+05:45"));
  });
});
