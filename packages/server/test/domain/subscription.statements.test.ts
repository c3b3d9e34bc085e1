import { describe, expect, test } from "vitest";
import type { Span } from "../../src/domain/calendar.ts";
import { foldGrants } from "../../src/domain/fold.ts";
import { NO_PERIOD, type Period } from "../../src/domain/period.ts";
import { type Grant, isGranted } from "../../src/domain/subscription.ts";
import { at, days, fold, labelOf, MONTHLY, months, QUARTERLY, topUp, UTC } from "./builders.ts";

const MONTH: Period = { months: 1, days: 0 };

function statement(when: string, start: string, span: Span, onTop = NO_PERIOD, bouquet = MONTHLY): Grant {
  return { kind: "statement", at: at(when), bouquet: labelOf(bouquet), start: at(start), span, onTop };
}

const JANUARY = statement("2026-01-05", "2026-01-01", months(1));

describe("a statement of the provider's", () => {
  test("alone is the subscription, with nothing topped up", () => {
    expect(fold([JANUARY])).toEqual({
      plan: "Fiber 100",
      bouquet: labelOf(MONTHLY),
      start: at("2026-01-01"),
      end: at("2026-02-01"),
      span: months(1),
      onTop: NO_PERIOD,
      goodwillDays: 0,
      grantedEnd: undefined,
    });
  });

  test("replaces the one before it, also by an earlier end and another bouquet", () => {
    const shorter = statement("2026-01-06", "2026-01-02", days(10), NO_PERIOD, QUARTERLY);
    expect(fold([JANUARY, shorter])).toMatchObject({
      bouquet: labelOf(QUARTERLY),
      start: at("2026-01-02"),
      end: at("2026-01-12"),
      span: days(10),
    });
  });

  test("is continued by a top-up from the start that it states", () => {
    const topped = fold([statement("2026-02-02", "2026-01-31", months(1)), topUp("2026-02-10")]);
    const end = at("2026-03-31");
    expect(topped).toMatchObject({ start: at("2026-01-31"), end, onTop: MONTH, grantedEnd: end });
  });

  test("of a subscription that starts in the future is continued all the same", () => {
    const topped = fold([statement("2026-01-05", "2026-02-01", months(1)), topUp("2026-01-10")]);
    expect(topped).toMatchObject({ start: at("2026-02-01"), end: at("2026-04-01") });
  });

  test("that has ended is followed by a new run", () => {
    expect(fold([JANUARY, topUp("2026-02-01")])).toMatchObject({ start: at("2026-02-01"), end: at("2026-03-01") });
  });

  test("carries what it does not hold yet on top, and keeps the bouquet bought last", () => {
    const further = statement("2026-01-20", "2026-01-01", months(2), { months: 3, days: 0 });
    expect(fold([JANUARY, topUp("2026-01-10", QUARTERLY), further])).toEqual({
      plan: "Fiber 100",
      bouquet: labelOf(QUARTERLY),
      start: at("2026-01-01"),
      end: at("2026-06-01"),
      span: months(5),
      onTop: { months: 3, days: 0 },
      goodwillDays: 0,
      grantedEnd: at("2026-05-01"),
    });
  });

  test("that holds the top-up has nothing on top, and still knows how far the top-up reached", () => {
    const absorbing = statement("2026-01-20", "2026-01-01", months(2));
    expect(fold([JANUARY, topUp("2026-01-10"), absorbing])).toMatchObject({
      end: at("2026-03-01"),
      onTop: NO_PERIOD,
      grantedEnd: at("2026-03-01"),
    });
  });

  test("after the run with the top-up has ended owes nothing to it", () => {
    const late = statement("2026-03-01", "2026-03-01", months(1), NO_PERIOD, QUARTERLY);
    expect(fold([JANUARY, topUp("2026-01-10"), late])).toMatchObject({
      bouquet: labelOf(QUARTERLY),
      end: at("2026-04-01"),
      grantedEnd: undefined,
    });
  });
});

describe("a withdrawal", () => {
  const withdrawal: Grant = { kind: "withdrawal", at: at("2026-01-20") };

  test("leaves nothing, whatever was there", () => {
    for (const grants of [[], [JANUARY], [topUp("2026-01-10")], [JANUARY, topUp("2026-01-10")]]) {
      expect(foldGrants(MONTHLY.plan, [...grants, withdrawal], UTC)).toBeUndefined();
    }
  });

  test("is followed by a fresh run, or by what is stated after it", () => {
    const start = at("2026-01-25");
    expect(fold([JANUARY, withdrawal, topUp(start)])).toMatchObject({ start, span: months(1) });
    const stated = statement("2026-01-25", "2026-01-15", months(1));
    expect(fold([topUp("2026-01-10"), withdrawal, stated])).toEqual(fold([stated]));
  });
});

describe("a run", () => {
  test("is granted from its first top-up to its end", () => {
    const topped = fold([JANUARY, topUp("2026-01-10")]);
    expect(isGranted(fold([JANUARY]), at("2026-01-06"))).toBe(false);
    expect(isGranted(topped, topped.end - 1)).toBe(true);
    expect(isGranted(topped, topped.end)).toBe(false);
  });
});
