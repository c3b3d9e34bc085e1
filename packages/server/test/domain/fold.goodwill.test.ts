import { expect, test } from "vitest";
import { foldGrants, foldSteps } from "../../src/domain/fold.ts";
import type { Grant } from "../../src/domain/subscription.ts";
import { at, fold, goodwill, labelOf, MONTHLY, months, QUARTERLY, reversal, takeBack, topUp, UTC } from "./builders.ts";

function goodwillOf(grants: readonly Grant[]): number {
  return foldGrants(MONTHLY.plan, grants, UTC)?.goodwillDays ?? 0;
}

function word(start: string, onTop: number): Grant {
  const run = { bouquet: labelOf(MONTHLY), start: at(start), span: months(1), onTop: { months: 0, days: onTop } };
  return { kind: "statement", at: at("2026-02-10"), ...run, grantedEnd: undefined };
}

test("goodwill lasts as long as its run, also where records are stated within it", () => {
  const given = [topUp("2026-01-01"), goodwill("2026-01-10", 7)];
  expect(goodwillOf(given)).toBe(7);
  expect(goodwillOf([...given, word("2026-01-01", 7)])).toBe(7);
  expect(goodwillOf([...given, topUp("2026-03-01")])).toBe(0);
});

test("goodwill of a run that is over is not that of a run which records begin after it", () => {
  const given = [topUp("2026-01-01"), goodwill("2026-01-10", 7)];
  // Five days lie on top of it, and they are another's.
  expect(goodwillOf([...given, word("2026-02-20", 5)])).toBe(0);
});

test("goodwill does not keep the name of a bouquet whose top-up was reversed", () => {
  const bought = [topUp("2026-01-01"), topUp("2026-01-02", QUARTERLY, "quarterly")];
  const given = [...bought, goodwill("2026-01-10", 7, QUARTERLY)];
  expect(fold(given).bouquet).toEqual(labelOf(QUARTERLY));
  expect(fold([...given, reversal("2026-01-11", "quarterly")]).bouquet).toEqual(labelOf(MONTHLY));
});

test("goodwill that is all that is left goes by what was bought last when it was given", () => {
  const given = [topUp("2026-01-01"), goodwill("2026-01-10", 7)];
  expect(fold([...given, reversal("2026-01-11", "checkout")]).bouquet).toEqual(labelOf(MONTHLY));
});

test("days taken back a second time are not those that were taken back before, and shorten nothing that was paid for", () => {
  const given = [goodwill("2026-01-01", 10), topUp("2026-01-08"), goodwill("2026-01-09", 5)];
  const ledger = [...given, takeBack("2026-01-10", 3), takeBack("2026-01-11", 8)];
  const steps = foldSteps(MONTHLY.plan, ledger, UTC);
  expect(steps.map(({ daysTakenBack }) => daysTakenBack)).toEqual([6, 0, 5, 0, 0]);
  expect(steps.at(-1)?.after).toMatchObject({ start: at("2026-01-08"), end: at("2026-02-08"), goodwillDays: 0 });
});
