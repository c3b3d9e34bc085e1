import { describe, expect, test } from "vitest";
import { type Connection, connectionState, hasRunningBase, wireStatus } from "../../src/domain/customer.ts";
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

function shown(connection: Partial<Connection>, now = NOW) {
  return wireStatus(connectionState(connectionWith(connection)), now);
}

describe("a connection on the wire", () => {
  test.each(KINDS_OF_SUBSCRIPTIONS)("imported active, with %s, is inactive only if all bases lapsed", (kind, held) => {
    const status = LAPSED_KINDS.includes(kind) ? "inactive" : "active";
    expect(shown({ subscriptions: held })).toBe(status);
    expect(shown({ subscriptions: held, toppedUp: true })).toBe(status);
  });

  test.each(KINDS_OF_SUBSCRIPTIONS)(
    "imported inactive and not topped up since, with %s, is inactive",
    (_kind, held) => {
      expect(shown({ status: "inactive", subscriptions: held })).toBe("inactive");
    },
  );

  test.each(KINDS_OF_SUBSCRIPTIONS)("imported inactive and topped up since, with %s, is as if active", (kind, held) => {
    const status = LAPSED_KINDS.includes(kind) ? "inactive" : "active";
    expect(shown({ status: "inactive", toppedUp: true, subscriptions: held })).toBe(status);
  });

  test.each(KINDS_OF_SUBSCRIPTIONS)("blocked, with %s, is inactive, topped up or not", (_kind, held) => {
    expect(shown({ status: "blocked", subscriptions: held })).toBe("inactive");
    expect(shown({ status: "blocked", subscriptions: held, toppedUp: true })).toBe("inactive");
  });

  test("turns inactive exactly at the end of its last base subscription", () => {
    const subscriptions = [LAPSED, otherPlan(RUNNING)];
    expect(shown({ subscriptions }, RUNNING.end - 1)).toBe("active");
    expect(shown({ subscriptions }, RUNNING.end)).toBe("inactive");
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
