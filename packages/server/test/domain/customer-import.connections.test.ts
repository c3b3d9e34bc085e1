import { describe, expect, test } from "vitest";
import type { ConnectionStatus } from "../../src/domain/customer.ts";
import { MONTHLY } from "./builders.ts";
import { ProviderWorld, statedConnection, statedCustomer, statedSubscription } from "./provider-world.ts";

const FIBER = statedConnection();
const BOX = statedConnection({ service: "tv", reqId: "0001" });
const RUNNING = statedSubscription("2026-01-01", "2026-02-01");

const withStatus = (status: ConnectionStatus) => statedCustomer([statedConnection({ status })]);

describe("the status of a connection", () => {
  test.each(["active", "inactive", "blocked"] as const)("is %s when it is first imported so", (status) => {
    const world = new ProviderWorld();
    world.import(withStatus(status), "2026-01-05");
    expect(world.connection("fiber1")).toMatchObject({ status, toppedUp: false });
  });

  test("that is stated again unchanged does not undo a top-up", () => {
    const world = new ProviderWorld();
    world.import(withStatus("inactive"), "2026-01-05");
    world.topUp("fiber1", "2026-01-10");
    world.import(withStatus("inactive"), "2026-01-11");
    expect(world.connection("fiber1")).toMatchObject({ status: "inactive", toppedUp: true });
  });

  test.each([
    ["inactive", "active"],
    ["inactive", "blocked"],
    ["active", "inactive"],
    ["active", "blocked"],
  ] as const)("that goes from %s to %s after a top-up holds as stated", (before, after) => {
    const world = new ProviderWorld();
    world.import(withStatus(before), "2026-01-05");
    world.topUp("fiber1", "2026-01-10");
    world.import(withStatus(after), "2026-01-11");
    expect(world.connection("fiber1")).toMatchObject({ status: after, toppedUp: false });
  });

  test("that is made inactive anew is inactive, though there was a top-up before the last change", () => {
    const world = new ProviderWorld();
    world.import(withStatus("inactive"), "2026-01-05");
    world.topUp("fiber1", "2026-01-10");
    world.import(withStatus("active"), "2026-01-11");
    world.import(withStatus("inactive"), "2026-01-12");
    expect(world.connection("fiber1")).toMatchObject({ status: "inactive", toppedUp: false });
  });
});

describe("the connections of a customer", () => {
  test("stand in the file's order, with their segment", () => {
    const world = new ProviderWorld();
    world.import(statedCustomer([FIBER, BOX]), "2026-01-05");
    const change = world.import(statedCustomer([{ ...BOX, segment: "gold" }, FIBER]), "2026-01-06");
    expect(change.connections).toMatchObject([
      { service: "tv", reqId: "0001", segment: "gold" },
      { service: "internet", reqId: "fiber1", segment: undefined },
    ]);
  });

  test("go when a file is without them, with what was only stated of them", () => {
    const world = new ProviderWorld();
    world.import(statedCustomer([{ ...FIBER, subscriptions: [RUNNING] }, BOX]), "2026-01-05");
    const change = world.import(statedCustomer([BOX]), "2026-01-06");
    expect(change.removedConnections).toMatchObject([{ service: "internet", reqId: "fiber1" }]);
    expect(change.entries).toMatchObject([{ reqId: "fiber1", plan: MONTHLY.plan, grant: { kind: "withdrawal" } }]);
    expect(world.connection("fiber1")).toBeUndefined();
  });

  test("come back with what is stated of them then", () => {
    const world = new ProviderWorld();
    const file = statedCustomer([{ ...FIBER, subscriptions: [RUNNING] }]);
    world.import(file, "2026-01-05");
    world.import(statedCustomer([]), "2026-01-06");
    expect(world.import(file, "2026-01-07").entries).toMatchObject([{ grant: { kind: "statement" } }]);
    expect(world.endOf("fiber1")).toBe("2026-02-01");
  });

  test("of the same name on two services are two", () => {
    const world = new ProviderWorld();
    const stream = statedConnection({ service: "iptv", reqId: "fiber1" });
    world.import(statedCustomer([FIBER, stream]), "2026-01-05");
    const change = world.import(statedCustomer([stream]), "2026-01-06");
    expect(change.removedConnections).toMatchObject([{ service: "internet", reqId: "fiber1" }]);
    expect(change.removedCodes).toEqual([]);
  });
});

describe("the codes of a customer", () => {
  test("are the customer id, the mobile number and every connection, each once", () => {
    const change = new ProviderWorld().import(statedCustomer([FIBER, BOX], { mobile: "0001" }), "2026-01-05");
    expect(change.addedCodes).toEqual(["7001", "0001", "fiber1"]);
    expect(change.removedCodes).toEqual([]);
  });

  test("are only the customer id where there is no mobile number and no connection", () => {
    const change = new ProviderWorld().import(statedCustomer([], { mobile: undefined }), "2026-01-05");
    expect(change.addedCodes).toEqual(["7001"]);
  });

  test("change with the mobile number and the connections", () => {
    const world = new ProviderWorld();
    world.import(statedCustomer([FIBER]), "2026-01-05");
    const change = world.import(statedCustomer([BOX], { mobile: "9811111111" }), "2026-01-06");
    expect(change.addedCodes).toEqual(["9811111111", "0001"]);
    expect(change.removedCodes).toEqual(["9800000001", "fiber1"]);
  });

  test("keep a number that goes from the mobile to a set-top box", () => {
    const world = new ProviderWorld();
    world.import(statedCustomer([], { mobile: "0001" }), "2026-01-05");
    const change = world.import(statedCustomer([BOX], { mobile: undefined }), "2026-01-06");
    expect(change).toMatchObject({ addedCodes: [], removedCodes: [] });
  });
});

describe("the particulars of a customer", () => {
  test("are those of the last file", () => {
    const world = new ProviderWorld();
    world.import(statedCustomer(), "2026-01-05");
    const { profile } = world.import(statedCustomer([], { firstName: "Bina", status: "inactive" }), "2026-01-06");
    expect(profile).toEqual({
      cuid: "7001",
      firstName: "Bina",
      lastName: "Rai",
      mobile: "9800000001",
      status: "inactive",
    });
  });
});
