import { describe, expect, test } from "vitest";
import { NO_ENTRY, nextEntry } from "../../src/domain/audit.ts";
import type { Customer } from "../../src/domain/customer.ts";
import {
  type CustomerEffect,
  customersImported,
  effectOf,
  entryOfCustomer,
  refusedEffect,
} from "../../src/domain/customer-audit.ts";
import { changeCustomer } from "../../src/domain/customer-import.ts";
import { AS_WRITTEN } from "../../src/domain/names.ts";
import { at, connectionWith, imported, ledgerOf, stated } from "./builders.ts";

const PROFILE = { cuid: "7001", firstName: "Asha", lastName: "Rai", mobile: undefined, status: "active" } as const;
const FIBER = { service: "internet", reqId: "fiber1" } as const;
const RULES = {
  asOf: at("2027-01-19"),
  now: at("2027-01-20"),
  toleranceDays: 1,
  mode: "import",
  allowShorter: new Set(""),
} as const;

/** The effect of a row on a customer with a subscription from 1 January to 1 February. */
function effect(customer: Customer | undefined, profile: object, end: string): CustomerEffect {
  const ledger = { ...FIBER, ...ledgerOf(imported("2027-01-01", stated("2027-01-01", "2027-02-01"))) };
  const stored = { customer, mobileForm: undefined, asOf: undefined, ledgers: customer === undefined ? [] : [ledger] };
  const subscriptions = [stated("2027-01-01", end)];
  const connection = { ...FIBER, status: "active", segment: "gold", subscriptions } as const;
  const row = { ...PROFILE, ...profile, asOf: undefined, goodwill: undefined, connections: [connection] };
  return effectOf(customer, changeCustomer(stored, row, RULES, AS_WRITTEN));
}

const stored: Customer = { ...PROFILE, connections: [connectionWith({ blocked: true })] };

describe("what an import does with one row", () => {
  test("is told value by value, before and after", () => {
    expect(effect(stored, { lastName: "Rana" }, "2027-03-01")).toMatchObject({
      cuid: "7001",
      kind: "changed",
      endsRunning: 0,
    });
    expect(effect(stored, { lastName: "Rana", area: "Patan" }, "2027-03-01").changes).toEqual([
      { field: "last_name", from: "Rai", to: "Rana" },
      { field: "area", from: undefined, to: "Patan" },
      { field: "internet fiber1", from: "active, blocked by staff", to: "active, segment gold, blocked by staff" },
      {
        field: "internet fiber1: Fiber 100",
        from: "NET-1M, 2027-01-01 00:00:00 to 2027-02-01 00:00:00",
        to: "NET-1M, 2027-01-01 00:00:00 to 2027-03-01 00:00:00",
      },
    ]);
  });

  test("of a new customer has no values before", () => {
    const added = effect(undefined, { mobile: "9800000001" }, "2027-02-01");
    expect([added.kind, added.changes.map(({ from }) => from)]).toEqual(["added", Array(6).fill(undefined)]);
    expect(added.changes.map(({ field }) => field)).toContain("mobile");
  });

  test("is nothing where nothing changes, and tells whose a connection is where the row is refused", () => {
    const same = { ...stored, connections: [connectionWith({ segment: "gold" })] };
    expect(effect(same, {}, "2027-02-01")).toMatchObject({ kind: "unchanged", changes: [] });
    const shared = { reqId: "fiber1", cuid: "7002", otherReqId: "fiber1" };
    const refused = { kind: "refused", changes: [], heldBack: [], endsRunning: 1, shared };
    expect(refusedEffect("7001", shared, 1)).toMatchObject(refused);
  });
});

describe("the audit trail of an import", () => {
  const effectFor = (cuid: string, to = "Rana"): CustomerEffect => ({
    ...effect(stored, {}, "2027-02-01"),
    ...{ cuid, kind: "changed", changes: [{ field: "last_name", from: "Rai", to }] },
  });
  const entries = (effects: readonly CustomerEffect[]) =>
    customersImported("customers.import", "production", effects).map((change) =>
      nextEntry(NO_ENTRY, change, { author: "cron", authority: undefined, at: 0 }),
    );

  test("tells what each customer was and is, fifty to an entry, without those that did not change", () => {
    const many = Array.from({ length: 120 }, (_, index) => effectFor(`${index}`));
    const unchanged: CustomerEffect = { ...effectFor("x"), kind: "unchanged", changes: [] };
    const found = entries([unchanged, ...many]);
    expect(found.map(({ after }) => Object.keys(JSON.parse(after ?? "")).length)).toEqual([50, 50, 20]);
    expect(entryOfCustomer(found[1] as (typeof found)[0], "77")).toMatchObject({
      ...{ action: "customers.import", subject: "production" },
      before: '{"last_name":"Rai"}',
      after: '{"last_name":"Rana"}',
    });
    expect(entryOfCustomer(found[0] as (typeof found)[0], "77")).toMatchObject({ before: undefined, after: undefined });
    expect(entries([unchanged])).toEqual([]);
  });

  test("tells of a customer once in an entry, and has entries of a size that can be read", () => {
    expect(entries([effectFor("1"), effectFor("1")])).toHaveLength(2);
    const long = Array.from({ length: 4 }, (_, index) => effectFor(`${index}`, "R".repeat(8_000)));
    expect(entries(long).length).toBeGreaterThan(1);
  });

  test("has nothing before of one who is new, and leaves other entries as they are", () => {
    const [entry] = entries([{ ...effectFor("__proto__"), kind: "added" }]);
    expect(entry && entryOfCustomer(entry, "__proto__")).toMatchObject({
      before: undefined,
      after: '{"last_name":"Rana"}',
    });
    const other = { action: "partner.add", before: "{}", after: undefined };
    expect(entryOfCustomer(other, "7001")).toBe(other);
  });
});
