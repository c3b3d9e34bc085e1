import { describe, expect, test } from "vitest";
import { check, failedIn } from "./support/conformance.ts";
import { MUTANTS } from "./support/mutants.ts";

const READING = MUTANTS.filter(({ isSpending }) => isSpending !== true);
const SPENDING = MUTANTS.filter(({ isSpending }) => isSpending === true);

describe("a service with one thing wrong", () => {
  test.each(READING)("is caught by just that: $name", async ({ caught, change, only }) => {
    const { report, provider } = await check(change);
    expect(failedIn(report).toSorted()).toEqual(caught.toSorted());
    expect(report.ok).toBe(false);
    expect(groupsOf(report.results, "fails")).toEqual(only === undefined ? ["v1.0.0", "v1.0.1"] : [only]);
    expect(provider.requests.map(({ operation }) => operation)).not.toContain("subscription-package-topup");
  });

  test.each(SPENDING)("is caught by a top-up, and just that: $name", async ({ caught, change, only }) => {
    const { report } = await check(change, { topUp: true });
    expect(failedIn(report).toSorted()).toEqual(caught.toSorted());
    expect(report.ok).toBe(false);
    expect(groupsOf(report.results, "fails")).toEqual(only === undefined ? ["v1.0.0", "v1.0.1"] : [only]);
  });

  test.each(SPENDING)("gets no top-up unless that is asked for: $name", async ({ change }) => {
    const { provider } = await check(change);
    expect(provider.requests.map(({ operation }) => operation)).not.toContain("subscription-package-topup");
    expect(provider.charged()).toBe(0);
  });
});

test("every demand of the interface has a service that breaks it", async () => {
  const { report } = await check({}, { topUp: true });
  const ids = new Set(report.results.map(({ id }) => id));
  const caught = new Set(MUTANTS.flatMap((mutant) => mutant.caught));
  expect([...ids].filter((id) => !caught.has(id))).toEqual([]);
});

function groupsOf(results: readonly { group: string; outcome: string }[], outcome: string): string[] {
  return [...new Set(results.filter((result) => result.outcome === outcome).map(({ group }) => group))].toSorted();
}
