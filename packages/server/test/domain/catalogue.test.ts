import { describe, expect, test } from "vitest";
import type { Bouquet } from "../../src/domain/bouquet.ts";
import { findPurchasable, purchasableBouquets } from "../../src/domain/catalogue.ts";
import type { Connection } from "../../src/domain/customer.ts";
import { ADD_ON, at, connectionWith, fold, labelOf, MONTHLY, QUARTERLY, topUp, UTC } from "./builders.ts";

const NOW = at("2026-01-20");
const RUNNING = fold([topUp("2026-01-10")]);
const LAPSED = fold([topUp("2025-12-20")]);

const TV: Bouquet = { ...MONTHLY, service: "tv", code: "TV-1M", plan: "Family" };
const GOLD: Bouquet = { ...MONTHLY, code: "GOLD-1M", plan: "Gold", segments: ["gold", "platinum"] };

function codesFor(connection: Connection, bouquets: readonly Bouquet[]): string[] {
  return purchasableBouquets({ revision: 1, bouquets }, connection, NOW, UTC).map(({ code }) => code);
}

describe("the bouquets that can be bought", () => {
  test("are those of the connection's service, in the catalogue's order", () => {
    expect(codesFor(connectionWith(), [QUARTERLY, TV, MONTHLY])).toEqual(["NET-3M", "NET-1M"]);
    expect(codesFor(connectionWith({ service: "tv", reqId: "0001" }), [QUARTERLY, TV, MONTHLY])).toEqual(["TV-1M"]);
    expect(codesFor(connectionWith({ service: "iptv" }), [QUARTERLY, TV, MONTHLY])).toEqual([]);
  });

  test.each([
    ["gold", ["NET-1M", "GOLD-1M"]],
    ["platinum", ["NET-1M", "GOLD-1M"]],
    ["silver", ["NET-1M"]],
    ["Gold", ["NET-1M"]],
    [undefined, ["NET-1M"]],
  ])("for the segment %s are %j", (segment, codes) => {
    expect(codesFor(connectionWith({ segment }), [MONTHLY, GOLD])).toEqual(codes);
  });

  test("have add-ons among them only while a base subscription runs", () => {
    const bouquets = [MONTHLY, ADD_ON];
    expect(codesFor(connectionWith(), bouquets)).toEqual(["NET-1M"]);
    expect(codesFor(connectionWith({ subscriptions: [LAPSED] }), bouquets)).toEqual(["NET-1M"]);
    expect(codesFor(connectionWith({ subscriptions: [RUNNING] }), bouquets)).toEqual(["NET-1M", "IP-1M"]);
  });

  test("have no add-ons among them where only an add-on still runs", () => {
    const addOn = { ...RUNNING, plan: ADD_ON.plan, bouquet: labelOf(ADD_ON) };
    expect(codesFor(connectionWith({ subscriptions: [LAPSED, addOn] }), [MONTHLY, ADD_ON])).toEqual(["NET-1M"]);
  });

  test("lose the add-ons exactly at the end of the base subscription", () => {
    const connection = connectionWith({ subscriptions: [RUNNING] });
    const catalogue = { revision: 1, bouquets: [ADD_ON] };
    expect(purchasableBouquets(catalogue, connection, RUNNING.end - 1, UTC)).toEqual([ADD_ON]);
    expect(purchasableBouquets(catalogue, connection, RUNNING.end, UTC)).toEqual([]);
  });
});

describe("a subscription for ever", () => {
  const upTo = (start: string) => connectionWith({ subscriptions: [fold([topUp(start)])] });

  test("is offered nothing of its plan, and all of the others", () => {
    const other = { ...MONTHLY, code: "FAST-1M", plan: "Fiber 300" };
    expect(codesFor(upTo("9999-12-15"), [MONTHLY, other, QUARTERLY])).toEqual(["FAST-1M"]);
  });

  test("is not to be had by beginning anew either, at the end of the calendar", () => {
    const codes = (now: string) =>
      purchasableBouquets({ revision: 1, bouquets: [MONTHLY, QUARTERLY] }, connectionWith(), at(now), UTC).map(
        ({ code }) => code,
      );
    expect(codes("9999-11-15")).toEqual(["NET-1M"]);
    expect(codes("9999-12-15")).toEqual([]);
  });

  test("is offered what ends by the last moment that the wire can tell, and no more", () => {
    expect(codesFor(upTo("9999-08-31T23:59:59Z"), [MONTHLY, QUARTERLY])).toEqual(["NET-1M", "NET-3M"]);
    expect(codesFor(upTo("9999-09-30T00:00:00Z"), [MONTHLY, QUARTERLY])).toEqual(["NET-1M"]);
    expect(codesFor(upTo("9990-01-01"), [MONTHLY, QUARTERLY])).toEqual(["NET-1M", "NET-3M"]);
  });
});

describe("a bouquet's code", () => {
  test("finds the bouquet of the connection's own service", () => {
    const sameCode = { ...TV, code: MONTHLY.code };
    const catalogue = { revision: 1, bouquets: [sameCode, MONTHLY] };
    expect(findPurchasable(catalogue, connectionWith(), MONTHLY.code, NOW, UTC)).toBe(MONTHLY);
    expect(findPurchasable(catalogue, connectionWith({ service: "tv" }), MONTHLY.code, NOW, UTC)).toBe(sameCode);
  });

  test("finds nothing that is not sold to the connection, and compares exactly", () => {
    const catalogue = { revision: 1, bouquets: [MONTHLY, GOLD, ADD_ON] };
    for (const code of ["GOLD-1M", "IP-1M", "net-1m", "NET-1M ", "", "NET"]) {
      expect(findPurchasable(catalogue, connectionWith(), code, NOW, UTC)).toBeUndefined();
    }
  });
});
