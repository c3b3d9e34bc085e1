import { describe, expect, test } from "vitest";
import { judgeExtent } from "../src/checks/extent.ts";
import type { Answer } from "../src/exchange.ts";
import type { VersionFacts } from "../src/facts.ts";

type Entry = readonly [code: string, name: string, start: string, end: string];

const at = (date: string) => `${date} 08:00:00`;

function listing(entries: readonly Entry[]): Answer {
  const subscriptions = entries.map(([code, name, start, end]) => {
    return { code, name, startdate: at(start), enddate: at(end) };
  });
  const json = { success: true, code: "400aa010", body: { checkoutId: "C", internet: { subscriptions } } };
  return { answered: true, status: 200, headers: {}, json, sizeBytes: 1 };
}

function outcome(bouquetName: string, before: readonly Entry[], after: readonly Entry[]): string {
  const connection = { service: "internet", reqId: "maya.net", isActive: true } as const;
  const plan = { connection, bouquetId: "B", bouquetName, amt: "1" };
  const spending = { plan, before: listing(before), after: listing(after) };
  return judgeExtent({ spending } as unknown as VersionFacts).outcome;
}

describe("what a top-up has extended", () => {
  test.each([
    ["(DAILY)", "2026-03-02"],
    ["(WEEKLY)", "2026-03-08"],
    ["(10 DAYS)", "2026-03-11"],
    ["(MONTHLY)", "2026-04-01"],
    ["(QUARTERLY)", "2026-06-01"],
    ["(HALF YEARLY)", "2026-09-01"],
    ["(YEARLY)", "2027-03-01"],
    ["(2 MONTHS)", "2026-05-01"],
  ])("is judged by the period in the name: %s", (period, right) => {
    const name = `Fiber ${period}`;
    const ended = (end: string): Entry => ["B", name, "2026-02-01", end];
    expect(outcome(name, [ended("2026-03-01")], [ended(right)])).toBe("holds");
    const twice = new Date(2 * Date.parse(right) - Date.parse("2026-03-01")).toISOString().slice(0, 10);
    expect(outcome(name, [ended("2026-03-01")], [ended(twice)])).toBe("fails");
    expect(outcome(name, [ended("2026-03-01")], [ended("2026-03-01")])).toBe("fails");
  });

  test("may be counted from the start of the run, on a day that the month in between has not", () => {
    const name = "Fiber (MONTHLY)";
    const before: Entry = ["B", name, "2026-01-31", "2026-02-28"];
    expect(outcome(name, [before], [["B", name, "2026-01-31", "2026-03-31"]])).toBe("holds");
    expect(outcome(name, [before], [["B", name, "2026-01-31", "2026-04-30"]])).toBe("fails");
  });

  test("is a new run where the former one has ended", () => {
    const name = "Fiber (MONTHLY)";
    const before: Entry = ["B", name, "2025-01-01", "2025-02-01"];
    expect(outcome(name, [], [["B", name, "2026-03-05", "2026-04-05"]])).toBe("holds");
    expect(outcome(name, [before], [["B", name, "2026-03-05", "2026-04-05"]])).toBe("holds");
    expect(outcome(name, [], [["B", name, "2026-03-05", "2026-05-05"]])).toBe("fails");
  });

  test("is the run of another bouquet of the plan, by whatever name, and no other's", () => {
    const other: Entry = ["X", "Kids [AddOn] (MONTHLY)", "2026-02-01", "2026-03-01"];
    const now: Entry = ["B", "Fiber 60 (MONTHLY)", "2026-02-01", "2026-06-01"];
    for (const former of ["Fiber 60 (QUARTERLY)", "Fiber 30 (QUARTERLY)"]) {
      const before: Entry = ["A", former, "2026-02-01", "2026-05-01"];
      expect(outcome(now[1], [other, before], [other, now])).toBe("holds");
    }
  });

  test("cannot be told of what is not shown, or has no period", () => {
    expect(outcome("Fiber (MONTHLY)", [], [["A", "Fiber (MONTHLY)", "2026-02-01", "2026-03-01"]])).toBe("skipped");
    expect(outcome("Fiber", [], [["B", "Fiber", "2026-02-01", "2026-03-01"]])).toBe("skipped");
  });
});
