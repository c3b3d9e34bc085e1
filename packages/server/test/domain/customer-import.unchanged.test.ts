import { describe, expect, test } from "vitest";
import type { StatedCustomer } from "../../src/domain/customer-row.ts";
import { ProviderWorld, statedConnection, statedCustomer, statedSubscription } from "./provider-world.ts";

const RUNNING = statedSubscription("2026-01-01", "2026-02-01");
const FIBER = statedConnection({ subscriptions: [RUNNING] });
const BOX = statedConnection({ service: "tv", reqId: "0001", segment: "hd" });
const FILE = statedCustomer([BOX, FIBER]);

/** What the second of two files changes. */
function change(second: StatedCustomer, first: StatedCustomer = FILE) {
  const world = new ProviderWorld();
  world.import(first, "2026-01-05");
  const { changesProfile, changesConnections, addedCodes, removedCodes, entries } = world.import(second, "2026-01-06");
  return { changesProfile, changesConnections, codes: addedCodes.length + removedCodes.length, grants: entries.length };
}

const NOTHING = { changesProfile: false, changesConnections: false, codes: 0, grants: 0 };

describe("what an import has to write", () => {
  test("is all, for a customer who is new", () => {
    const first = new ProviderWorld().import(FILE, "2026-01-05");
    expect(first).toMatchObject({ changesProfile: true, changesConnections: true });
    expect(new ProviderWorld().import(statedCustomer([]), "2026-01-05")).toMatchObject({ changesProfile: true });
  });

  test("is nothing, where the file says what is stored", () => {
    expect(change(FILE)).toEqual(NOTHING);
  });

  test.each<[string, Partial<StatedCustomer>, number]>([
    ["first name", { firstName: "Anisha" }, 0],
    ["last name", { lastName: "Gurung" }, 0],
    ["status", { status: "inactive" }, 0],
    ["mobile number", { mobile: "9800000009" }, 2],
    ["mobile number, which is none now", { mobile: undefined }, 1],
  ])("is the profile, for another %s", (_what, profile, codes) => {
    expect(change({ ...FILE, ...profile })).toEqual({ ...NOTHING, changesProfile: true, codes });
  });

  test.each([
    ["status", [{ ...BOX, status: "blocked" as const }, FIBER], 0],
    ["segment", [{ ...BOX, segment: undefined }, FIBER], 0],
    ["order", [FIBER, BOX], 0],
    ["number, with its code, where one is new", [BOX, FIBER, statedConnection({ reqId: "fiber2" })], 1],
    ["number, with its code, where one is gone", [FIBER], 1],
  ])("is the connections, for another %s", (_what, connections, codes) => {
    expect(change(statedCustomer(connections))).toEqual({ ...NOTHING, changesConnections: true, codes });
  });

  test("is the connections, where a status takes back that a top-up made one active", () => {
    const world = new ProviderWorld();
    world.import(FILE, "2026-01-05");
    world.topUp("fiber1", "2026-01-06");
    expect(world.import(FILE, "2026-01-07").changesConnections).toBe(false);
    const inactive = statedCustomer([BOX, { ...FIBER, status: "inactive" }]);
    expect(world.import(inactive, "2026-01-08").changesConnections).toBe(true);
  });

  test("is a grant alone, for a subscription that ends later", () => {
    const later = { ...FIBER, subscriptions: [statedSubscription("2026-01-01", "2026-03-01")] };
    expect(change(statedCustomer([BOX, later]))).toEqual({ ...NOTHING, grants: 1 });
  });
});
