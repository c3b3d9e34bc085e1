import { describe, expect, test } from "vitest";
import {
  type Connection,
  connectionState,
  openToSales,
  subscriptionsOf,
  wireStatus,
} from "../../src/domain/customer.ts";
import type { Subscription } from "../../src/domain/subscription.ts";
import { secondBefore } from "../../src/domain/wall-time.ts";
import { ADD_ON, connectionHaving, connectionWith, MONTHLY, monthFrom, wall } from "./builders.ts";

const NOW = wall("2027-01-20");
const RUNNING = monthFrom("2027-01-10");
const LAPSED = monthFrom("2026-12-20");
const otherPlan = (subscription: Subscription) => ({ ...subscription, plan: "Fiber 500" });
const RUNNING_ADD_ON = monthFrom("2027-01-10", ADD_ON);
const LAPSED_ADD_ON = monthFrom("2026-12-20", ADD_ON);

/** The status by the subscriptions alone; undefined if there are none. */
const CASES: readonly (readonly [string, readonly Subscription[], "active" | "inactive" | undefined])[] = [
  ["no subscription", [], undefined],
  ["a running add-on alone", [RUNNING_ADD_ON], undefined],
  ["a lapsed add-on alone", [LAPSED_ADD_ON], undefined],
  ["a running base subscription", [RUNNING], "active"],
  ["a running base subscription and a lapsed add-on", [RUNNING, LAPSED_ADD_ON], "active"],
  ["one lapsed and one running base subscription", [LAPSED, otherPlan(RUNNING)], "active"],
  ["a lapsed base subscription", [LAPSED], "inactive"],
  ["two lapsed base subscriptions", [LAPSED, otherPlan(LAPSED)], "inactive"],
  ["a lapsed base subscription and a running add-on", [LAPSED, RUNNING_ADD_ON], "inactive"],
];

function shown(subscriptions: readonly Subscription[], changes: Partial<Connection> = {}, now = NOW) {
  return wireStatus(connectionState(connectionHaving(subscriptions, changes)), now);
}

describe("a connection on the wire", () => {
  test.each(CASES)("with %s is what its base subscriptions say, or else as imported", (_, subscriptions, status) => {
    expect(shown(subscriptions, { status: "active" })).toBe(status ?? "active");
    expect(shown(subscriptions, { status: "inactive" })).toBe(status ?? "inactive");
  });

  test.each(CASES)("with %s is inactive where it is blocked, by records or by staff", (_, subscriptions) => {
    expect(shown(subscriptions, { status: "blocked" })).toBe("inactive");
    expect(shown(subscriptions, { blocked: true })).toBe("inactive");
  });

  test("turns inactive exactly at the end of its last base subscription", () => {
    const subscriptions = [LAPSED, otherPlan(RUNNING)];
    expect(shown(subscriptions, {}, secondBefore(RUNNING.end))).toBe("active");
    expect(shown(subscriptions, {}, RUNNING.end)).toBe("inactive");
  });
});

test("subscriptions are listed with bases first, and of each kind the oldest", () => {
  const plans = subscriptionsOf(connectionHaving([RUNNING_ADD_ON, otherPlan(RUNNING), RUNNING, LAPSED_ADD_ON]));
  expect(plans.map(({ plan, start }) => [plan, start.slice(0, 10)])).toEqual([
    [MONTHLY.plan, "2027-01-10"],
    ["Fiber 500", "2027-01-10"],
    [ADD_ON.plan, "2026-12-20"],
    [ADD_ON.plan, "2027-01-10"],
  ]);
});

test("a sale is open to an active customer and a connection that nobody has blocked", () => {
  const connection = connectionWith({ status: "inactive" });
  const [active, inactive] = [{ status: "active" }, { status: "inactive" }] as const;
  expect(openToSales(active, connection)).toEqual({ ok: true, value: { customer: active, connection } });
  expect(openToSales(undefined, connection)).toMatchObject({ refusal: "customer_not_found" });
  expect(openToSales(inactive, undefined)).toMatchObject({ refusal: "customer_inactive" });
  expect(openToSales(active, undefined)).toMatchObject({ refusal: "connection_not_found" });
  for (const blocked of [connectionWith({ status: "blocked" }), connectionWith({ blocked: true })])
    expect(openToSales(active, blocked)).toMatchObject({ refusal: "connection_blocked" });
});
