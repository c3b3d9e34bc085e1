import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Calendar } from "../../src/domain/calendar.ts";
import { foldGrants } from "../../src/domain/fold.ts";
import {
  applyGrant,
  type CountedGrant,
  type Grant,
  hasEnded,
  type Subscription,
} from "../../src/domain/subscription.ts";
import { anyCalendar, anyLedger, anyPeriod, anyTime, anyTopUp, ledgerOf } from "./any-ledger.ts";
import { DAY_MS, MONTHLY, RUNS, topUp } from "./builders.ts";

const PLAN = MONTHLY.plan;

const anyTopUps = ledgerOf(anyTopUp);

/** As a store keeps it: a top-up or goodwill is applied to what is stored, and of all else the ledger is folded. */
function storeAll(ledger: readonly CountedGrant[], calendar: Calendar) {
  let stored: Subscription | undefined;
  for (const [index, grant] of ledger.entries()) {
    const isPeriod = grant.kind === "top_up" || grant.kind === "goodwill";
    stored = isPeriod
      ? applyGrant(PLAN, stored, grant, calendar)
      : foldGrants(PLAN, ledger.slice(0, index + 1), calendar);
  }
  return stored;
}

describe("any ledger", () => {
  test("folds to the same at once, and with each top-up and goodwill applied to what is stored", () => {
    fc.assert(
      fc.property(anyLedger, anyCalendar, (ledger, calendar) => {
        expect(storeAll(ledger, calendar)).toEqual(foldGrants(PLAN, ledger, calendar));
      }),
      RUNS,
    );
  });

  test("gives a subscription that ends at its start plus its span, and holds what was topped up", () => {
    fc.assert(
      fc.property(anyLedger, anyCalendar, (ledger, calendar) => {
        const subscription = foldGrants(PLAN, ledger, calendar);
        if (subscription === undefined) return;
        const { start, end, span, onTop } = subscription;
        expect(end).toBe(calendar.add(start, span));
        expect(onTop.months).toBeLessThanOrEqual(span.months);
        expect(onTop.days).toBeLessThanOrEqual(span.days);
      }),
      RUNS,
    );
  });

  test("never ends earlier by a top-up, and runs right after it", () => {
    fc.assert(
      fc.property(
        anyLedger,
        anyCalendar,
        anyPeriod,
        fc.nat({ max: 50 * DAY_MS }),
        (ledger, calendar, period, pause) => {
          const before = foldGrants(PLAN, ledger, calendar);
          const when = (ledger.at(-1) as Grant).at + pause;
          const after = applyGrant(PLAN, before, topUp(when, { ...MONTHLY, period }), calendar);
          expect(after.end).toBeGreaterThan(before?.end ?? when);
          expect(hasEnded(after, when)).toBe(false);
        },
      ),
      RUNS,
    );
  });

  test("of top-ups alone gives every run exactly the periods that were bought in it", () => {
    fc.assert(
      fc.property(anyTopUps, anyCalendar, (ledger, calendar) => {
        const { start, span, onTop } = foldGrants(PLAN, ledger, calendar) as Subscription;
        const inRun = ledger.filter((grant) => grant.at >= start);
        const bought = inRun.flatMap((grant) => (grant.kind === "top_up" ? [grant.period] : []));
        const sum = (unit: "months" | "days") => bought.reduce((total, period) => total + period[unit], 0);
        expect(span).toEqual({ months: sum("months"), days: sum("days"), seconds: 0 });
        expect({ ...onTop, seconds: 0 }).toEqual(span);
      }),
      RUNS,
    );
  });

  test("ends at the same time in whatever order top-ups came before the end", () => {
    const anyPeriods = fc.array(anyPeriod, { minLength: 2, maxLength: 6 });
    const twoOrders = anyPeriods.chain((periods) =>
      fc.tuple(
        fc.constant(periods),
        fc.shuffledSubarray(periods, { minLength: periods.length, maxLength: periods.length }),
      ),
    );
    fc.assert(
      fc.property(twoOrders, anyTime, anyCalendar, ([order, otherOrder], start, calendar) => {
        const endOf = (periods: typeof order) =>
          foldGrants(
            PLAN,
            periods.map((period, index) => topUp(start + index * 1000, { ...MONTHLY, period })),
            calendar,
          )?.end;
        expect(endOf(order)).toBe(endOf(otherOrder));
      }),
      RUNS,
    );
  });
});
