import { describe, expect, test } from "vitest";
import type { Bouquet } from "../../src/domain/bouquet.ts";
import {
  type BasePlans,
  DEFAULT_BASE_PLANS,
  findPurchasable,
  purchasableBouquets,
} from "../../src/domain/catalogue.ts";
import type { Connection } from "../../src/domain/customer.ts";
import { secondBefore } from "../../src/domain/wall-time.ts";
import { ADD_ON, connectionHaving, connectionWith, MONTHLY, monthFrom, QUARTERLY, wall } from "./builders.ts";

const NOW = wall("2027-01-20");
const RUNNING = monthFrom("2027-01-10");
const LAPSED = monthFrom("2026-12-20");

const TV: Bouquet = { ...MONTHLY, service: "tv", code: "TV-1M", plan: "Family" };
const GOLD: Bouquet = { ...MONTHLY, code: "GOLD-1M", plan: "Gold", segments: ["gold", "platinum"] };
const FAST: Bouquet = { ...MONTHLY, code: "FAST-1M", name: "Fiber 300 (MONTHLY)", plan: "Fiber 300" };
const MANY: BasePlans = { tv: "many", internet: "many", iptv: "many" };

function codesFor(connection: Connection, bouquets: readonly Bouquet[], now = NOW, basePlans = MANY): string[] {
  return purchasableBouquets({ revision: 1, bouquets }, connection, now, basePlans).map(({ code }) => code);
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
    expect(codesFor(connectionHaving([LAPSED]), bouquets)).toEqual(["NET-1M"]);
    expect(codesFor(connectionHaving([RUNNING]), bouquets)).toEqual(["NET-1M", "IP-1M"]);
  });

  test("have no add-ons among them where only an add-on still runs", () => {
    const addOn = monthFrom("2027-01-10", ADD_ON);
    expect(codesFor(connectionHaving([LAPSED, addOn]), [MONTHLY, ADD_ON])).toEqual(["NET-1M"]);
  });

  test("lose the add-ons exactly at the end of the base subscription", () => {
    const connection = connectionHaving([RUNNING]);
    expect(codesFor(connection, [ADD_ON], secondBefore(RUNNING.end))).toEqual(["IP-1M"]);
    expect(codesFor(connection, [ADD_ON], RUNNING.end)).toEqual([]);
  });
});

describe("while a base subscription runs, on a service with base plans", () => {
  const catalogue = [MONTHLY, FAST, QUARTERLY, ADD_ON];
  const withBasePlans = (internet: "one" | "many", connection: Connection) =>
    codesFor(connection, catalogue, NOW, { ...MANY, internet });

  test("one: its own plan and add-ons are sold, and no other base plan", () => {
    expect(withBasePlans("one", connectionHaving([RUNNING]))).toEqual(["NET-1M", "NET-3M", "IP-1M"]);
    const fast = monthFrom("2027-01-10", FAST);
    expect(withBasePlans("one", connectionHaving([LAPSED, fast]))).toEqual(["FAST-1M", "IP-1M"]);
    expect(withBasePlans("one", connectionHaving([RUNNING, fast]))).toEqual(["NET-1M", "FAST-1M", "NET-3M", "IP-1M"]);
  });

  test("one: any base plan is sold where none runs", () => {
    const addOn = monthFrom("2027-01-10", ADD_ON);
    for (const connection of [connectionWith(), connectionHaving([LAPSED]), connectionHaving([addOn])])
      expect(withBasePlans("one", connection)).toEqual(["NET-1M", "FAST-1M", "NET-3M"]);
  });

  test("many: each plan runs by itself", () => {
    expect(withBasePlans("many", connectionHaving([RUNNING]))).toEqual(["NET-1M", "FAST-1M", "NET-3M", "IP-1M"]);
  });

  test("the default is one for internet alone", () => {
    expect(DEFAULT_BASE_PLANS).toEqual({ tv: "many", internet: "one", iptv: "many" });
  });

  test("the same list is answered again as long as it is the same answer", () => {
    const known = { revision: 1, bouquets: catalogue };
    const list = (connection: Connection) => purchasableBouquets(known, connection, NOW, DEFAULT_BASE_PLANS);
    expect(list(connectionHaving([RUNNING]))).toBe(list(connectionHaving([RUNNING], { reqId: "fiber2" })));
    expect(list(connectionHaving([RUNNING]))).not.toEqual(list(connectionWith()));
  });
});

describe("a subscription for ever", () => {
  const upTo = (start: string) => connectionHaving([monthFrom(start)]);

  test("is offered nothing of its plan, and all of the others", () => {
    expect(codesFor(upTo("9999-12-15"), [MONTHLY, FAST, QUARTERLY])).toEqual(["FAST-1M"]);
  });

  test("is offered what ends by the last time that the wire can tell, and no more", () => {
    expect(codesFor(upTo("9999-08-31 23:59:59"), [MONTHLY, QUARTERLY])).toEqual(["NET-1M", "NET-3M"]);
    expect(codesFor(upTo("9999-09-30"), [MONTHLY, QUARTERLY])).toEqual(["NET-1M"]);
    expect(codesFor(upTo("9990-01-01"), [MONTHLY, QUARTERLY])).toEqual(["NET-1M", "NET-3M"]);
  });
});

describe("a bouquet's code", () => {
  test("finds the bouquet of the connection's own service", () => {
    const sameCode = { ...TV, code: MONTHLY.code };
    const catalogue = { revision: 1, bouquets: [sameCode, MONTHLY] };
    expect(findPurchasable(catalogue, connectionWith(), MONTHLY.code, NOW, MANY)).toBe(MONTHLY);
    expect(findPurchasable(catalogue, connectionWith({ service: "tv" }), MONTHLY.code, NOW, MANY)).toBe(sameCode);
  });

  test("finds nothing that is not sold to the connection, and compares exactly", () => {
    const catalogue = { revision: 1, bouquets: [MONTHLY, GOLD, ADD_ON] };
    for (const code of ["GOLD-1M", "IP-1M", "net-1m", "NET-1M ", "", "NET"]) {
      expect(findPurchasable(catalogue, connectionWith(), code, NOW, MANY)).toBeUndefined();
    }
  });
});
