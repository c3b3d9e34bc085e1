import { describe, expect, test } from "vitest";
import { check, failedIn } from "./support/conformance.ts";
import { changeOf } from "./support/mutant.ts";
import { TOPUPD_PRACTICE_MUTANTS } from "./support/topupd-practice-mutants.ts";
import { TOPUPD_READING_MUTANTS } from "./support/topupd-reading-mutants.ts";
import { TOPUPD_SPENDING_MUTANTS } from "./support/topupd-spending-mutants.ts";
import { WEBHOOK_MUTANTS } from "./support/webhook-mutants.ts";

const TOP_UP = "subscription-package-topup";
const isTopupd = true;
const profile = "topupd";

describe("a service with one of topupd's decisions missing", () => {
  test.each(TOPUPD_READING_MUTANTS)("is caught by just that: $name", async (mutant) => {
    const { report, provider } = await check({ isTopupd, ...changeOf(mutant) }, { profile });
    expect(failedIn(report).toSorted()).toEqual(mutant.caught.toSorted());
    expect(report.ok).toBe(false);
    expect(provider.requests.map(({ operation }) => operation)).not.toContain(TOP_UP);
  });

  test.each(TOPUPD_SPENDING_MUTANTS)("is caught by a top-up, and just that: $name", async (mutant) => {
    const { report } = await check({ isTopupd, ...changeOf(mutant) }, { profile, topUp: true });
    expect(failedIn(report).toSorted()).toEqual(mutant.caught.toSorted());
    expect(report.ok).toBe(false);
  });

  test.each(TOPUPD_PRACTICE_MUTANTS)("is caught by practising, and just that: $name", async (mutant) => {
    const settings = { profile, topUp: true, versions: ["v1.0.1"] } as const;
    const { report } = await check({ isTopupd, ...changeOf(mutant) }, settings);
    expect(failedIn(report).toSorted()).toEqual(mutant.caught.toSorted());
    expect(report.ok).toBe(false);
  });

  test.each(TOPUPD_SPENDING_MUTANTS)("gets no top-up unless that is asked for: $name", async (mutant) => {
    const { provider } = await check({ isTopupd, ...changeOf(mutant) }, { profile });
    expect(provider.requests.map(({ operation }) => operation)).not.toContain(TOP_UP);
  });

  test.each(TOPUPD_READING_MUTANTS)("may be right by the interface all the same: $name", async (mutant) => {
    const { report } = await check({ isTopupd, ...changeOf(mutant) });
    expect(failedIn(report)).toEqual([]);
  });
});

test("every decision that is checked has a service that breaks it", async () => {
  const { report } = await check({ isTopupd }, { profile, topUp: true });
  const ids = new Set(report.results.filter(({ level }) => level === "topupd").map(({ id }) => id));
  const mutants = [TOPUPD_READING_MUTANTS, TOPUPD_SPENDING_MUTANTS, TOPUPD_PRACTICE_MUTANTS, WEBHOOK_MUTANTS];
  const caught = new Set(mutants.flat().flatMap((mutant) => mutant.caught));
  expect([...ids].filter((id) => !caught.has(id))).toEqual([]);
});
