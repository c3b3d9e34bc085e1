import { describe, expect, test } from "vitest";
import { NO_PERIOD } from "../../src/domain/period.ts";
import { ADD_ON, labelOf, MONTHLY, QUARTERLY } from "./builders.ts";
import { fileWith, ProviderWorld, statedConnection, statedCustomer, statedSubscription } from "./provider-world.ts";

const JANUARY = fileWith("2026-01-01", "2026-02-01");

/** January as imported, and a month topped up on 10 January: it runs to 1 March. */
function toppedUpWorld(): ProviderWorld {
  const world = new ProviderWorld();
  world.import(JANUARY, "2026-01-05");
  world.topUp("fiber1", "2026-01-10");
  return world;
}

describe("what a file says of a subscription and is not taken", () => {
  const SHORTER = fileWith("2026-01-01", "2026-01-20");

  test("is told each time, where it would end the run before its last top-up put it", () => {
    const world = toppedUpWorld();
    for (const day of ["2026-01-11", "2026-01-12"]) {
      const { entries, passedOver } = world.import(SHORTER, day);
      expect({ entries, passedOver }).toEqual({ entries: [], passedOver: [{ service: "internet", code: "NET-1M" }] });
    }
    expect(world.endOf("fiber1")).toBe("2026-03-01");
  });

  test("is not told of a copy, nor of what is stated again, nor where nothing was granted", () => {
    const world = new ProviderWorld();
    world.import(JANUARY, "2026-01-05");
    expect(world.import(SHORTER, "2026-01-06").passedOver).toEqual([]);
    const toppedUp = toppedUpWorld();
    for (const file of [JANUARY, fileWith("2026-01-01", "2026-03-01")])
      expect(toppedUp.import(file, "2026-01-11").passedOver).toEqual([]);
  });
});

describe("a file that is imported twice", () => {
  test("says nothing the second time", () => {
    const world = new ProviderWorld();
    const first = world.import(JANUARY, "2026-01-05");
    expect(first.entries).toHaveLength(1);
    const before = world.customer;
    const second = world.import(JANUARY, "2026-01-06");
    expect(second).toMatchObject({ entries: [], addedCodes: [], removedCodes: [], removedConnections: [] });
    expect(world.customer).toEqual(before);
  });

  test("says nothing the second time, though the month from 31 January ends on 28 February", () => {
    const world = new ProviderWorld();
    world.import(fileWith("2026-01-31", "2026-02-28"), "2026-02-01");
    expect(world.import(fileWith("2026-01-31", "2026-02-28"), "2026-02-02").entries).toEqual([]);
    world.topUp("fiber1", "2026-02-10");
    expect(world.endOf("fiber1")).toBe("2026-03-31");
  });

  test("says what is new, where the provider has moved the dates", () => {
    const world = new ProviderWorld();
    world.import(JANUARY, "2026-01-05");
    world.import(fileWith("2026-01-01", "2026-01-20"), "2026-01-06");
    expect(world.endOf("fiber1")).toBe("2026-01-20");
    world.import(fileWith("2026-01-01", "2026-04-01"), "2026-01-07");
    expect(world.endOf("fiber1")).toBe("2026-04-01");
  });

  test("says what is new, where the start or the bouquet alone has changed", () => {
    const world = new ProviderWorld();
    world.import(JANUARY, "2026-01-05");
    expect(world.import(fileWith("2026-01-02", "2026-02-01"), "2026-01-06").entries).toHaveLength(1);
    world.import(fileWith("2026-01-02", "2026-02-01", QUARTERLY), "2026-01-07");
    expect(world.subscription("fiber1")?.bouquet).toEqual(labelOf(QUARTERLY));
  });
});

describe("a running top-up", () => {
  test("is kept by a stale file, which is known already", () => {
    const world = toppedUpWorld();
    expect(world.import(JANUARY, "2026-01-11").entries).toEqual([]);
    expect(world.endOf("fiber1")).toBe("2026-03-01");
  });

  test("is laid on top of a file that the provider has extended without knowing of it", () => {
    const world = toppedUpWorld();
    const extended = fileWith("2026-01-01", "2026-04-01");
    world.import(extended, "2026-01-11");
    expect(world.endOf("fiber1")).toBe("2026-05-01");
    expect(world.import(extended, "2026-01-12").entries).toEqual([]);
  });

  test("is not cut by a file that the provider has shortened", () => {
    const world = toppedUpWorld();
    const shortened = fileWith("2026-01-01", "2026-01-12");
    expect(world.import(shortened, "2026-01-11").entries).toEqual([]);
    expect(world.endOf("fiber1")).toBe("2026-03-01");
  });

  test("is not cut where the provider takes back what it gave, and the extra goes", () => {
    const world = toppedUpWorld();
    world.import(fileWith("2026-01-01", "2026-04-01"), "2026-01-11");
    world.import(JANUARY, "2026-01-12");
    expect(world.endOf("fiber1")).toBe("2026-03-01");
  });

  test("keeps showing its own bouquet", () => {
    const world = new ProviderWorld();
    world.import(JANUARY, "2026-01-05");
    world.topUp("fiber1", "2026-01-10", QUARTERLY);
    world.import(fileWith("2026-01-01", "2026-02-03"), "2026-01-11");
    expect(world.subscription("fiber1")?.bouquet).toEqual(labelOf(QUARTERLY));
    expect(world.endOf("fiber1")).toBe("2026-05-03");
  });

  test("that began a new run is kept by a file that still ends before it", () => {
    const world = new ProviderWorld();
    world.import(JANUARY, "2026-01-05");
    world.topUp("fiber1", "2026-02-10");
    expect(world.import(JANUARY, "2026-02-11").entries).toEqual([]);
    world.import(fileWith("2026-01-01", "2026-02-03"), "2026-02-12");
    expect(world.endOf("fiber1")).toBe("2026-03-10");
  });

  test("is kept by a file without the subscription, which takes away the others", () => {
    const world = new ProviderWorld();
    const both = [MONTHLY, ADD_ON].map((bouquet) => statedSubscription("2026-01-01", "2026-02-01", bouquet));
    world.import(statedCustomer([statedConnection({ subscriptions: both })]), "2026-01-05");
    world.topUp("fiber1", "2026-01-10");
    const { entries } = world.import(statedCustomer(), "2026-01-11");
    expect(entries).toMatchObject([{ plan: ADD_ON.plan, grant: { kind: "withdrawal" }, subscription: undefined }]);
    expect(world.endOf("fiber1")).toBe("2026-03-01");
    expect(world.endOf("fiber1", ADD_ON.plan)).toBeUndefined();
    expect(world.import(statedCustomer(), "2026-01-12").entries).toEqual([]);
  });

  test("keeps its connection when a file is without it, but no other subscription there", () => {
    const world = new ProviderWorld();
    const both = [
      statedSubscription("2026-01-01", "2026-02-01"),
      statedSubscription("2026-01-01", "2026-12-01", ADD_ON),
    ];
    world.import(statedCustomer([statedConnection({ subscriptions: both })]), "2026-01-05");
    world.topUp("fiber1", "2026-01-10");
    world.import(statedCustomer([]), "2026-01-11");
    expect(world.endOf("fiber1")).toBe("2026-03-01");
    expect(world.endOf("fiber1", ADD_ON.plan)).toBeUndefined();
  });

  test("keeps its connection when a file is without it", () => {
    const world = toppedUpWorld();
    const change = world.import(statedCustomer([]), "2026-02-28");
    expect(change).toMatchObject({ removedConnections: [], entries: [], removedCodes: [] });
    expect(world.endOf("fiber1")).toBe("2026-03-01");
    expect(world.connection("fiber1")).toMatchObject({ status: "active", toppedUp: true });
  });
});

describe("a run whose top-up has ended", () => {
  test("makes way for what the provider states", () => {
    const world = toppedUpWorld();
    world.import(fileWith("2026-04-01", "2026-05-01"), "2026-04-02");
    expect(world.subscription("fiber1")).toMatchObject({ onTop: NO_PERIOD, grantedEnd: undefined });
    expect(world.endOf("fiber1")).toBe("2026-05-01");
  });

  test("stays, lapsed, where a file has the connection without it", () => {
    const world = toppedUpWorld();
    expect(world.import(statedCustomer(), "2026-03-01").entries).toEqual([]);
    expect(world.endOf("fiber1")).toBe("2026-03-01");
  });

  test("goes with its connection, whose name is then free for another customer", () => {
    const world = toppedUpWorld();
    const change = world.import(statedCustomer([]), "2026-03-01");
    expect(change).toMatchObject({ removedConnections: [{ reqId: "fiber1" }], removedCodes: ["fiber1"] });
    expect(change.entries).toMatchObject([{ grant: { kind: "withdrawal" }, subscription: undefined }]);
    expect(world.connection("fiber1")).toBeUndefined();
  });
});
