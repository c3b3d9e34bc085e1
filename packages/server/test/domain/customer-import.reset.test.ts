import { describe, expect, test } from "vitest";
import { MONTHLY } from "./builders.ts";
import { ProviderWorld, statedConnection, statedCustomer, statedSubscription } from "./provider-world.ts";

const FIRST_STATE = statedCustomer([
  statedConnection({ status: "inactive", subscriptions: [statedSubscription("2026-01-01", "2026-02-01")] }),
]);

function toppedUpWorld(): ProviderWorld {
  const world = new ProviderWorld();
  world.import(FIRST_STATE, "2026-01-05", "reset");
  world.topUp("fiber1", "2026-01-10");
  return world;
}

describe("a reset of a trial customer", () => {
  test("takes back what was topped up, and the status with it", () => {
    const world = toppedUpWorld();
    expect(world.endOf("fiber1")).toBe("2026-03-01");
    const change = world.import(FIRST_STATE, "2026-01-11", "reset");
    expect(change.entries.map(({ grant }) => grant?.kind)).toEqual(["withdrawal", "statement"]);
    expect(world.endOf("fiber1")).toBe("2026-02-01");
    expect(world.connection("fiber1")).toMatchObject({ status: "inactive", toppedUp: false });
  });

  test("takes away a connection that was topped up and is not stated", () => {
    const world = toppedUpWorld();
    const change = world.import(statedCustomer([]), "2026-01-11", "reset");
    expect(change.entries.map(({ grant }) => grant?.kind)).toEqual(["withdrawal"]);
    expect(change.removedConnections).toMatchObject([{ service: "internet", reqId: "fiber1" }]);
    expect(change.removedCodes).toEqual(["fiber1"]);
    expect(world.customer?.connections).toEqual([]);
  });

  test("leaves ledgers that fold to what is stated, and top-ups go on from there", () => {
    const world = toppedUpWorld();
    world.import(FIRST_STATE, "2026-01-11", "reset");
    const key = { service: "internet", reqId: "fiber1", plan: MONTHLY.plan } as const;
    expect(world.folded(key)).toEqual(world.subscription("fiber1"));
    world.topUp("fiber1", "2026-01-12");
    expect(world.endOf("fiber1")).toBe("2026-03-01");
    expect(world.folded(key)).toEqual(world.subscription("fiber1"));
  });

  test("of a customer who was not there writes what is stated", () => {
    const change = new ProviderWorld().import(FIRST_STATE, "2026-01-05", "reset");
    expect(change.entries.map(({ grant }) => grant?.kind)).toEqual(["statement"]);
    expect(change.addedCodes).toEqual(["7001", "9800000001", "fiber1"]);
  });
});
