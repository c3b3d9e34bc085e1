import { describe, expect, test } from "vitest";
import type { Report } from "../src/index.ts";
import { renderTable } from "../src/render/table.ts";
import { check, failedIn, notedIn } from "./support/conformance.ts";
import { LATER_MUTANTS } from "./support/later-mutants.ts";
import { LISTING_MUTANTS } from "./support/listing-mutants.ts";
import { LOOK_UP_MUTANTS } from "./support/look-up-mutants.ts";
import { MONEY_MUTANTS } from "./support/money-mutants.ts";
import { changeOf, type Mutant } from "./support/mutant.ts";
import { SPENDING_MUTANTS } from "./support/spending-mutants.ts";

const READING_MUTANTS = [...LOOK_UP_MUTANTS, ...LISTING_MUTANTS];
const TOP_UP_MUTANTS = [...SPENDING_MUTANTS, ...LATER_MUTANTS];

describe("a service with one thing wrong", () => {
  test.each(READING_MUTANTS)("is caught by just that: $name", async (mutant) => {
    const { report, provider } = await check(changeOf(mutant));
    expect(failedIn(report).toSorted()).toEqual(mutant.caught.toSorted());
    expect(report.ok).toBe(false);
    expect(groupsOf(report)).toEqual(groupsFor(mutant));
    expect(provider.requests.map(({ operation }) => operation)).not.toContain("subscription-package-topup");
  });

  test.each(TOP_UP_MUTANTS)("is caught by a top-up, and just that: $name", async (mutant) => {
    const { report } = await check(changeOf(mutant), { topUp: true, expiry: true });
    expect(failedIn(report).toSorted()).toEqual(mutant.caught.toSorted());
    expect(report.ok).toBe(false);
    expect(groupsOf(report)).toEqual(groupsFor(mutant));
  });

  test.each(MONEY_MUTANTS)("that costs money is noted in a plain service, in just that: $name", async (mutant) => {
    const { report, provider } = await check(changeOf(mutant), { topUp: true });
    expect([failedIn(report), notedIn(report), report.ok]).toEqual([[], mutant.caught, true]);
    // After it, nothing else that may buy is sent.
    expect(provider.charged()).toBe(3);
    expect(renderTable(report)).toContain(`  ! ${mutant.caught[0]}`);
  });

  test.each(MONEY_MUTANTS)("that costs money is noted of one with the profile too: $name", async (mutant) => {
    const { report } = await check({ isTopupd: true, ...changeOf(mutant) }, { topUp: true, profile: "topupd" });
    expect(notedIn(report)).toEqual(mutant.caught);
  });

  test.each([...TOP_UP_MUTANTS, ...MONEY_MUTANTS])("gets no top-up unless that is asked for: $name", async (mutant) => {
    const { provider } = await check(changeOf(mutant));
    expect(provider.requests.map(({ operation }) => operation)).not.toContain("subscription-package-topup");
    expect(provider.charged()).toBe(0);
  });
});

test("every demand of the interface has a service that breaks it", async () => {
  const { report } = await check({}, { topUp: true });
  const ids = new Set(report.results.map(({ id }) => id));
  const caught = new Set([...READING_MUTANTS, ...TOP_UP_MUTANTS, ...MONEY_MUTANTS].flatMap((mutant) => mutant.caught));
  expect([...ids].filter((id) => !caught.has(id))).toEqual([]);
});

/** The versions in which something failed. */
function groupsOf({ results }: Report): string[] {
  return [...new Set(results.filter(({ outcome }) => outcome === "fails").map(({ group }) => group))].toSorted();
}

function groupsFor({ only }: Mutant): string[] {
  return only === undefined ? ["v1.0.0", "v1.0.1"] : [only];
}
