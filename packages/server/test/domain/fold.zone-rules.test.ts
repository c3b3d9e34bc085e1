import { describe, expect, test } from "vitest";
import { createCalendar } from "../../src/domain/calendar.ts";
import { isCountedByOtherRules } from "../../src/domain/other-rules.ts";
import type { Grant } from "../../src/domain/subscription.ts";
import { at, fold, reversal, topUp } from "./builders.ts";
import { AFTER, BEFORE, changedAt } from "./two-rules.ts";

const CHANGE = at("2027-01-10");
const calendar = changedAt(CHANGE);
const [then, now] = [createCalendar(BEFORE), createCalendar(AFTER)];

/** Seven months from November, to where the rules differ. */
const SEVEN = ["2026-11-01T03:00:00Z", ...Array.from({ length: 6 }, () => "2026-11-02")].map((when, index) =>
  topUp(at(when), undefined, `checkout ${index}`),
);

describe("a ledger from before a change of the zone's rules", () => {
  test("folds to the end that was promised", () => {
    expect(fold(SEVEN, calendar)).toEqual(fold(SEVEN, then));
    expect(fold(SEVEN, calendar).end).toBe(at("2027-06-01T04:00:00Z"));
    expect(fold(SEVEN, now).end).toBe(at("2027-06-01T03:00:00Z"));
  });

  test("is counted by the new rules from the next top-up on", () => {
    const grants = [...SEVEN, topUp("2027-02-01", undefined, "after")];
    expect(fold(grants, calendar).end).toBe(at("2027-07-01T03:00:00Z"));
  });

  test("goes on with the run that a top-up in the very hour went on with", () => {
    const late = topUp("2027-06-01T03:30:00Z", undefined, "late");
    expect(fold([...SEVEN, late], changedAt(at("2027-06-10"))).start).toBe(at("2026-11-01T03:00:00Z"));
    expect(fold([...SEVEN, late], now).start).toBe(late.at);
  });

  test("keeps what a reversal has left of it", () => {
    const grants: Grant[] = [...SEVEN, reversal("2026-12-01", "checkout 3")];
    expect(fold(grants, calendar)).toEqual(fold(grants, then));
  });
});

test("an hour is a fault where rules have never changed, and more than the zone's offsets are apart wherever", () => {
  const counted = fold(SEVEN, calendar);
  const moved = (ms: number) => ({ ...counted, end: counted.end + ms });
  const hour = 3_600_000;
  expect([hour, -hour, 2 * hour, hour / 2, 1].map((ms) => isCountedByOtherRules(moved(ms), counted, calendar))).toEqual(
    [true, true, false, false, false],
  );
  expect(isCountedByOtherRules(moved(hour), counted, now)).toBe(false);
  expect(isCountedByOtherRules({ ...moved(hour), start: counted.start + hour }, counted, calendar)).toBe(false);
  expect(isCountedByOtherRules({ ...moved(hour), grantedEnd: undefined }, counted, calendar)).toBe(false);
  expect(isCountedByOtherRules(undefined, counted, calendar)).toBe(false);
});
