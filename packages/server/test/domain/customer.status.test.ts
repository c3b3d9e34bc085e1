import { describe, expect, test } from "vitest";
import { hasRunningBase, wireStatus } from "../../src/domain/customer.ts";
import { ADD_ON, at, connectionWith, fold, labelOf, topUp } from "./builders.ts";

const NOW = at("2026-01-20");
const RUNNING = fold([topUp("2026-01-10")]);
const LAPSED = fold([topUp("2025-12-20")]);
const asAddOn = (subscription: typeof RUNNING) => ({
  ...subscription,
  plan: ADD_ON.plan,
  bouquet: labelOf(ADD_ON),
});
const otherPlan = (subscription: typeof RUNNING) => ({ ...subscription, plan: "Fiber 500" });

const KINDS_OF_SUBSCRIPTIONS = [
  ["no subscription", []],
  ["a running base subscription", [RUNNING]],
  ["a lapsed base subscription", [LAPSED]],
  ["two lapsed base subscriptions", [LAPSED, otherPlan(LAPSED)]],
  ["one lapsed and one running base subscription", [LAPSED, otherPlan(RUNNING)]],
  ["a lapsed base subscription and a running add-on", [LAPSED, asAddOn(RUNNING)]],
  ["a running base subscription and a lapsed add-on", [RUNNING, asAddOn(LAPSED)]],
  ["a running add-on alone", [asAddOn(RUNNING)]],
  ["a lapsed add-on alone", [asAddOn(LAPSED)]],
] as const;

const LAPSED_KINDS = [
  "a lapsed base subscription",
  "two lapsed base subscriptions",
  "a lapsed base subscription and a running add-on",
];

describe("a connection on the wire", () => {
  test.each(KINDS_OF_SUBSCRIPTIONS)("imported active, with %s, is inactive only if all bases lapsed", (kind, held) => {
    const status = LAPSED_KINDS.includes(kind) ? "inactive" : "active";
    expect(wireStatus(connectionWith({ subscriptions: held }), NOW)).toBe(status);
    expect(wireStatus(connectionWith({ subscriptions: held, toppedUp: true }), NOW)).toBe(status);
  });

  test.each(KINDS_OF_SUBSCRIPTIONS)(
    "imported inactive and not topped up since, with %s, is inactive",
    (_kind, held) => {
      expect(wireStatus(connectionWith({ status: "inactive", subscriptions: held }), NOW)).toBe("inactive");
    },
  );

  test.each(KINDS_OF_SUBSCRIPTIONS)("imported inactive and topped up since, with %s, is as if active", (kind, held) => {
    const status = LAPSED_KINDS.includes(kind) ? "inactive" : "active";
    const connection = connectionWith({ status: "inactive", toppedUp: true, subscriptions: held });
    expect(wireStatus(connection, NOW)).toBe(status);
  });

  test.each(KINDS_OF_SUBSCRIPTIONS)("blocked, with %s, is inactive, topped up or not", (_kind, held) => {
    const blocked = connectionWith({ status: "blocked", subscriptions: held });
    expect(wireStatus(blocked, NOW)).toBe("inactive");
    expect(wireStatus({ ...blocked, toppedUp: true }, NOW)).toBe("inactive");
  });

  test("turns inactive exactly at the end of its last base subscription", () => {
    const connection = connectionWith({ subscriptions: [LAPSED, otherPlan(RUNNING)] });
    expect(wireStatus(connection, RUNNING.end - 1)).toBe("active");
    expect(wireStatus(connection, RUNNING.end)).toBe("inactive");
  });
});

describe("a running base subscription", () => {
  test("is there until its end, and an add-on is none", () => {
    const connection = connectionWith({ subscriptions: [RUNNING, asAddOn(fold([topUp("2026-01-15")]))] });
    expect(hasRunningBase(connection, RUNNING.end - 1)).toBe(true);
    expect(hasRunningBase(connection, RUNNING.end)).toBe(false);
    expect(hasRunningBase(connectionWith(), NOW)).toBe(false);
  });
});
