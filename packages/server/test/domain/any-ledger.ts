import fc from "fast-check";
import { createCalendar } from "../../src/domain/calendar.ts";
import { NO_PERIOD } from "../../src/domain/period.ts";
import type { CountedGrant } from "../../src/domain/subscription.ts";
import { at, DAY_MS, goodwill, labelOf, MONTHLY, topUp } from "./builders.ts";

/* Ledgers as fast-check makes them up. */

export const anyCalendar = fc
  .constantFrom("UTC", "Asia/Kathmandu", "America/New_York", "Europe/Berlin")
  .map((zone) => createCalendar(zone));
export const anyTime = fc.integer({ min: at("2020-01-01"), max: at("2040-01-01") });
export const anyPeriod = fc.constantFrom(
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

type Step = (before: number) => CountedGrant;
export const anyTopUp: fc.Arbitrary<Step> = anyPeriod.map((period) => (when) => topUp(when, { ...MONTHLY, period }));
/** After so many days, where a run was carried over from another topupd. */
const anyCarriedEnd = fc.oneof(
  { arbitrary: fc.constant(undefined), weight: 3 },
  { arbitrary: fc.integer({ min: 1, max: 400 }), weight: 1 },
);
const anyStatement: fc.Arbitrary<Step> = fc
  .tuple(anySpan, fc.nat({ max: 60 }), fc.oneof(fc.constant(NO_PERIOD), anyPeriod), anyCarriedEnd)
  .map(([span, daysAgo, onTop, carriedDays]) => (when) => {
    const start = when - daysAgo * DAY_MS;
    const grantedEnd = carriedDays === undefined ? undefined : start + carriedDays * DAY_MS;
    const carried = grantedEnd === undefined ? {} : { grantedEnd, goodwillDays: Math.floor(onTop.days / 2) };
    return { kind: "statement", at: when, bouquet: labelOf(MONTHLY), start, span, onTop, ...carried };
  });
const anyGoodwill: fc.Arbitrary<Step> = fc.integer({ min: 1, max: 40 }).map((days) => (when) => goodwill(when, days));
const anyWithdrawal: fc.Arbitrary<Step> = fc.constant((when) => ({ kind: "withdrawal", at: when }));

/** Grants in the order of their time, days or weeks apart, so that some come before an end and some after it. */
export function ledgerOf(steps: fc.Arbitrary<Step>): fc.Arbitrary<CountedGrant[]> {
  const pauses = fc.nat({ max: 50 * DAY_MS });
  return fc.tuple(anyTime, fc.array(fc.tuple(pauses, steps), { minLength: 1, maxLength: 12 })).map(([start, list]) => {
    let when = start;
    return list.map(([pause, step]) => {
      when += pause;
      return step(when);
    });
  });
}

export const anyLedger = ledgerOf(
  fc.oneof({ arbitrary: anyTopUp, weight: 4 }, { arbitrary: anyStatement, weight: 3 }, anyGoodwill, anyWithdrawal),
);
