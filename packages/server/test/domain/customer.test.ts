import { describe, expect, test } from "vitest";
import {
  type Connection,
  connectionState,
  openToSales,
  subscriptionsOf,
  wireStatus,
} from "../../src/domain/customer.ts";
import { foldName, isCountry, mobileNumbersOf } from "../../src/domain/names.ts";
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

describe("the fold of a username", () => {
  test.each([
    ["sita.rai", "Sita.RAI"],
    ["jose", "Jos\u00e9"],
    ["jose\u0301", "jos\u00e9"],
    ["strasse", "stra\u00dfe"],
    ["sita1", "\uff53\uff49\uff54\uff41\uff11"],
    ["si\u200dta", "sita"],
  ])("is the same for %j and %j", (one, other) => {
    expect(foldName(one)).toBe(foldName(other));
  });

  test.each([
    ["sita", "sita1"],
    ["sita.rai", "sita-rai"],
    ["\u0938\u0940\u0924\u093e", "\u0938\u0924\u093e"],
    ["\u0930\u093e\u092e", "\u0930\u092e\u093e"],
  ])("is another for %j and %j", (one, other) => {
    expect(foldName(one)).not.toBe(foldName(other));
  });
});

const normalise = mobileNumbersOf("NP");

describe("a mobile number", () => {
  test("is the same one however people and telephones write it", () => {
    const plain = ["+977 9841000000", "+977-984-100-0000", "977-9841000000", "9841000000", "(984) 100-0000"];
    const unseen = [" 9841000000\u00a0", "984\u2013100\u20110000", "9841\u2212000000", "\u202a+977 984-1000000\u202c"];
    const arabic = "\u0669\u0668\u0664\u0661\u0660\u0660\u0660\u0660\u0660\u0660";
    const devanagari = "\u096f\u096e\u096a\u0967\u0966\u0966\u0966\u0966\u0966\u0966";
    const all = [...plain, "009779841000000", ...unseen, arabic, devanagari];
    for (const text of [...all, ...all]) expect(normalise(text), text).toBe("+9779841000000");
  });

  test("of another country is that country's", () => {
    expect(normalise("+44 7400 123456")).toBe("+447400123456");
    expect(mobileNumbersOf("GB")("07400 123456")).toBe("+447400123456");
    expect(mobileNumbersOf("GB")("98410000")).toBeUndefined();
  });

  test.each([
    ["9731000501", "a range that the library does not know"],
    ["7200000001", "another"],
    ["14412345", "a landline"],
    ["77123456", "one of a range that the library does not know"],
  ])("%s, %s, is the same one in every spelling", (digits) => {
    const spellings = [digits, `0${digits}`, `977${digits}`, `00977${digits}`, `+977-${digits}`];
    const split = `0${digits.slice(0, -7)}-${digits.slice(-7)}`;
    for (const text of [...spellings, split]) expect(normalise(text), text).toBe(`+977${digits}`);
  });

  test("is nothing else that looks like a number or holds one", () => {
    const others = ["204117", "007700000000001", "junk9841000000", "9841000000 ext 3", "9841000000;ext=1", "+", ""];
    for (const text of ["maya.rai", ...others]) expect(normalise(text), text).toBeUndefined();
  });

  test("is told in one form, however many others were asked for", () => {
    for (let number = 0; number < 10_050; number += 1) normalise(`98420${String(number).padStart(5, "0")}`);
    expect(normalise("9841000000")).toBe("+9779841000000");
  });
});

test("a country is known by its two capital letters", () => {
  expect(["NP", "np", "XX", ""].filter(isCountry)).toEqual(["NP"]);
});
