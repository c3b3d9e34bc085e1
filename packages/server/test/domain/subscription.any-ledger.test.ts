import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Calendar, createCalendar } from "../../src/domain/calendar.ts";
import { NO_PERIOD } from "../../src/domain/period.ts";
import { applyGrant, foldGrants, type Grant, hasEnded, type Subscription } from "../../src/domain/subscription.ts";
import { at, DAY_MS, labelOf, MONTHLY, RUNS, topUp } from "./builders.ts";

const PLAN = MONTHLY.plan;

const anyCalendar = fc
  .constantFrom("UTC", "Asia/Kathmandu", "America/New_York", "Europe/Berlin")
  .map((zone) => createCalendar(zone));
const anyTime = fc.integer({ min: at("2020-01-01"), max: at("2040-01-01") });
const anyPeriod = fc.constantFrom(
  { months: 0, days: 1 },
  { months: 0, days: 7 },
  { months: 0, days: 45 },
  { months: 1, days: 0 },
  { months: 3, days: 0 },
  { months: 12, days: 0 },
);
const anySpan = fc.record({
  months: fc.nat({ max: 13 }),
  days: fc.integer({ min: 1, max: 40 }),
  seconds: fc.nat({ max: 86_399 }),
});

type Step = (before: number) => Grant;
const anyTopUp: fc.Arbitrary<Step> = anyPeriod.map((period) => (when) => topUp(when, { ...MONTHLY, period }));
const anyStatement: fc.Arbitrary<Step> = fc
  .tuple(anySpan, fc.nat({ max: 60 }), fc.oneof(fc.constant(NO_PERIOD), anyPeriod))
  .map(([span, daysAgo, onTop]) => (when) => {
    return { kind: "statement", at: when, bouquet: labelOf(MONTHLY), start: when - daysAgo * DAY_MS, span, onTop };
  });
const anyWithdrawal: fc.Arbitrary<Step> = fc.constant((when) => ({ kind: "withdrawal", at: when }));

/** Grants in the order of their time, days or weeks apart, so that some come before an end and some after it. */
function ledgerOf(steps: fc.Arbitrary<Step>): fc.Arbitrary<Grant[]> {
  const pauses = fc.nat({ max: 50 * DAY_MS });
  return fc.tuple(anyTime, fc.array(fc.tuple(pauses, steps), { minLength: 1, maxLength: 12 })).map(([start, list]) => {
    let when = start;
    return list.map(([pause, step]) => {
      when += pause;
      return step(when);
    });
  });
}

const anyTopUps = ledgerOf(anyTopUp);
const anyLedger = ledgerOf(
  fc.oneof({ arbitrary: anyTopUp, weight: 4 }, { arbitrary: anyStatement, weight: 3 }, anyWithdrawal),
);

function applyAll(before: Subscription | undefined, grants: readonly Grant[], calendar: Calendar) {
  let subscription = before;
  for (const grant of grants) subscription = applyGrant(PLAN, subscription, grant, calendar);
  return subscription;
}

describe("any ledger", () => {
  test("folds to the same at once, step by step, and from any point on", () => {
    fc.assert(
      fc.property(anyLedger, anyCalendar, fc.nat({ max: 12 }), (ledger, calendar, cut) => {
        const whole = foldGrants(PLAN, ledger, calendar);
        expect(applyAll(undefined, ledger, calendar)).toEqual(whole);
        const first = foldGrants(PLAN, ledger.slice(0, cut), calendar);
        expect(applyAll(first, ledger.slice(cut), calendar)).toEqual(whole);
      }),
      RUNS,
    );
  });

  test("gives a subscription that ends at its start plus its span, and holds what was topped up", () => {
    fc.assert(
      fc.property(anyLedger, anyCalendar, (ledger, calendar) => {
        const subscription = foldGrants(PLAN, ledger, calendar);
        if (subscription === undefined) return;
        const { start, end, span, toppedUp } = subscription;
        expect(end).toBe(calendar.add(start, span));
        expect(toppedUp.months).toBeLessThanOrEqual(span.months);
        expect(toppedUp.days).toBeLessThanOrEqual(span.days);
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
          const after = applyGrant(PLAN, before, topUp(when, { ...MONTHLY, period }), calendar) as Subscription;
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
        const { start, span, toppedUp } = foldGrants(PLAN, ledger, calendar) as Subscription;
        const inRun = ledger.filter((grant) => grant.at >= start);
        const bought = inRun.flatMap((grant) => (grant.kind === "top_up" ? [grant.period] : []));
        const sum = (unit: "months" | "days") => bought.reduce((total, period) => total + period[unit], 0);
        expect(span).toEqual({ months: sum("months"), days: sum("days"), seconds: 0 });
        expect({ ...toppedUp, seconds: 0 }).toEqual(span);
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
