import { describe, expect, test } from "vitest";
import { foldGrants } from "../../src/domain/fold.ts";
import { hasEnded } from "../../src/domain/subscription.ts";
import { at, DAY_MS, fold, labelOf, MONTHLY, months, QUARTERLY, topUp, UTC } from "./builders.ts";

const START = at("2026-01-10");
const FIRST_END = at("2026-02-10");

describe("a first top-up", () => {
  test("starts a subscription at the time of the top-up, for one period", () => {
    expect(fold([topUp(START)])).toEqual({
      plan: "Fiber 100",
      bouquet: labelOf(MONTHLY),
      start: START,
      end: FIRST_END,
      span: months(1),
      onTop: { months: 1, days: 0 },
      goodwillDays: 0,
      grantedEnd: FIRST_END,
    });
  });

  test("is needed for there to be a subscription", () => {
    expect(foldGrants("Fiber 100", [], UTC)).toBeUndefined();
  });
});

describe("a renewal", () => {
  test.each([
    ["on the first day", START + 1],
    ["in the middle", START + 15 * DAY_MS],
    ["in the last millisecond", FIRST_END - 1],
  ])("%s continues the run from its start", (_when, renewedAt) => {
    const renewed = fold([topUp(START), topUp(renewedAt)]);
    const end = at("2026-03-10");
    const onTop = { months: 2, days: 0 };
    expect(renewed).toMatchObject({ start: START, end, span: months(2), onTop, grantedEnd: end });
  });

  test.each([
    ["exactly at the end", FIRST_END],
    ["a millisecond after the end", FIRST_END + 1],
    ["weeks after the end", FIRST_END + 40 * DAY_MS],
  ])("%s begins a new run at that time, and pays for no day without service", (_when, renewedAt) => {
    const renewed = fold([topUp(START), topUp(renewedAt)]);
    const end = UTC.add(renewedAt, months(1));
    const onTop = { months: 1, days: 0 };
    expect(renewed).toMatchObject({ start: renewedAt, end, span: months(1), onTop, grantedEnd: end });
  });

  test("of a new run counts from the new run's start", () => {
    const grants = [topUp("2026-01-31"), topUp("2026-03-15"), topUp("2026-03-20")];
    expect(fold(grants)).toMatchObject({ start: at("2026-03-15"), end: at("2026-05-15"), span: months(2) });
  });

  test("by another bouquet of the plan extends the same subscription, which shows the bouquet bought last", () => {
    const grants = [topUp(START), topUp(START + DAY_MS, QUARTERLY)];
    expect(fold(grants)).toMatchObject({ start: START, end: at("2026-05-10"), bouquet: labelOf(QUARTERLY) });
    expect(fold([...grants, topUp(START + 2 * DAY_MS)])).toMatchObject({
      end: at("2026-06-10"),
      bouquet: labelOf(MONTHLY),
    });
  });

  test("by days is added after all the months, in whatever order they were bought", () => {
    const tenDays = { ...MONTHLY, code: "NET-10D", period: { months: 0, days: 10 } };
    const end = at("2026-03-10");
    expect(fold([topUp("2026-01-31"), topUp("2026-02-01", tenDays)]).end).toBe(end);
    expect(fold([topUp("2026-01-31", tenDays), topUp("2026-02-01")]).end).toBe(end);
  });
});

describe("the end of a subscription", () => {
  test("is the first instant at which it has ended", () => {
    const subscription = fold([topUp(START)]);
    expect(hasEnded(subscription, FIRST_END - 1)).toBe(false);
    expect(hasEnded(subscription, FIRST_END)).toBe(true);
  });
});
