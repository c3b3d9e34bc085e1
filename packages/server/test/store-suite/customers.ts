import { expect, test } from "vitest";
import { connectionState } from "../../src/domain/customer.ts";
import type { StatedCustomer } from "../../src/domain/customer-row.ts";
import { by } from "../support/by.ts";
import { customersOf } from "../support/customers-of.ts";
import { type MakeDatabase, openStore } from "./database.ts";
import { openProvider, RAM_NET, restate, SITA, SITA_NET, SITA_TV, statedCustomer } from "./provider.ts";

const STB = "007700000000001";

export function testCustomers(makeDatabase: MakeDatabase): void {
  test.each([
    ["customer id", "2000001"],
    ["mobile number", "9800000101"],
    ["set-top box", STB],
    ["internet username", "sita"],
    ["IPTV username", "sita-iptv"],
  ])("a customer is found by %s", async (_, code) => {
    const { store } = await openProvider(makeDatabase);
    const found = await store.lookUpCustomers("production", code);
    expect(found.map(({ cuid }) => cuid)).toEqual(["2000001"]);
  });

  test("a customer is found with all that was imported", async () => {
    const { store } = await openProvider(makeDatabase);
    const [found] = await customersOf(store, "production", "2000001");
    expect(found).toMatchObject({ firstName: "Sita", lastName: "Rai", mobile: "9800000101", status: "active" });
    expect(found?.connections).toMatchObject([
      {
        service: "tv",
        reqId: STB,
        status: "active",
        segment: "sd",
        toppedUp: false,
        subscriptions: [{ end: 1796893200000 }],
      },
      {
        service: "internet",
        reqId: "sita",
        status: "active",
        segment: undefined,
        subscriptions: [{ plan: "Fiber 100 Mbps" }],
      },
      { service: "iptv", reqId: "sita-iptv", status: "inactive", subscriptions: [] },
    ]);
  });

  test("a look-up tells of each connection, in the provider's order, what its status depends on", async () => {
    const { store, now } = await openProvider(makeDatabase);
    for (const code of ["2000001", "9800000101", STB, "sita", "sita-iptv", "2000002"]) {
      const whole = await customersOf(store, "production", code);
      const overviews = whole.map(({ connections, ...profile }) => ({
        ...profile,
        connections: connections.map((connection) => {
          const { service, reqId } = connection;
          return { service, reqId, ...connectionState(connection) };
        }),
      }));
      expect(overviews).toHaveLength(1);
      expect(await store.lookUpCustomers("production", code)).toEqual(overviews);
    }
    await restate(store, now, plain("1", { mobile: "98" }), plain("2", { mobile: "98" }), plain("3", { mobile: "98" }));
    expect(await store.lookUpCustomers("production", "98")).toMatchObject([{ connections: [] }, { connections: [] }]);
    expect(await store.lookUpCustomers("production", "nobody")).toEqual([]);
    expect(await store.lookUpCustomers("trial", "2000001")).toEqual([]);
  });

  test("a code is compared exactly", async () => {
    const { store } = await openProvider(makeDatabase);
    for (const code of ["7700000000001", "SITA", "sita ", "sit", "%", "Sita", "Rai", ""]) {
      expect(await store.lookUpCustomers("production", code)).toEqual([]);
    }
  });

  test("a mobile number that two share finds both", async () => {
    const { store, now } = await openStore(makeDatabase);
    await restate(store, now, plain("1", { mobile: "98" }), plain("2", { mobile: "98" }));
    expect(await found(store.lookUpCustomers("production", "98"))).toEqual(["1", "2"]);
    expect(await found(store.lookUpCustomers("production", "2"))).toEqual(["2"]);
  });

  test("two are enough to know that a code is ambiguous", async () => {
    const { store, now } = await openStore(makeDatabase);
    await restate(store, now, ...["1", "2", "3"].map((cuid) => plain(cuid, { mobile: "98" })));
    expect(await store.lookUpCustomers("production", "98")).toHaveLength(2);
  });

  test("one customer's mobile number that is another's set-top box finds both", async () => {
    const { store, now } = await openStore(makeDatabase);
    const owner = plain("2", { connections: { tv: [{ stb: "98", status: "active" }] } });
    await restate(store, now, plain("1", { mobile: "98" }), owner);
    expect(await found(store.lookUpCustomers("production", "98"))).toEqual(["1", "2"]);
  });

  test("a text that names one customer twice finds that customer once", async () => {
    const { store, now } = await openStore(makeDatabase);
    const connections = { tv: [{ stb: "98", status: "active" }], internet: [{ username: "98", status: "active" }] };
    await restate(store, now, plain("1", { mobile: "98", connections }));
    expect(await found(store.lookUpCustomers("production", "98"))).toEqual(["1"]);
  });

  test("trial and production customers never see each other", async () => {
    const { store, now } = await openStore(makeDatabase);
    await restate(store, now, SITA);
    expect(await customersOf(store, "trial", "2000001")).toEqual([]);
    expect(await store.findConnection({ ...SITA_TV, environment: "trial" })).toBeUndefined();
    const trial = statedCustomer({ ...SITA, first_name: "Trial" });
    await store.importCustomers("trial", [trial], by(now), "unsaid");
    const names = async (environment: "trial" | "production") =>
      (await customersOf(store, environment, "2000001")).map(({ firstName }) => firstName);
    expect(await names("trial")).toEqual(["Trial"]);
    expect(await names("production")).toEqual(["Sita"]);
  });

  test("a connection is found with its customer and its subscriptions", async () => {
    const { store } = await openProvider(makeDatabase);
    const [customer] = await customersOf(store, "production", "2000001");
    const { connections, ...profile } = customer as NonNullable<typeof customer>;
    expect(await store.findConnection(SITA_TV)).toEqual({ profile, connection: connections[0] });
    expect(await store.findConnection(SITA_NET)).toEqual({ profile, connection: connections[1] });
  });

  test.each([
    ["another service", { ...SITA_NET, service: "iptv" }],
    ["another customer's username", { ...SITA_NET, reqId: RAM_NET.reqId }],
    ["a username that nobody has", { ...SITA_NET, reqId: "nobody" }],
  ] as const)("%s is no connection of the customer", async (_, key) => {
    const { store } = await openProvider(makeDatabase);
    const answer = await store.findConnection(key);
    expect(answer?.profile.cuid).toBe("2000001");
    expect(answer?.connection).toBeUndefined();
  });

  test("a customer that nobody imported has no connection", async () => {
    const { store } = await openProvider(makeDatabase);
    expect(await store.findConnection({ ...SITA_NET, cuid: "9" })).toBeUndefined();
  });

  test("customers of which one cannot be written are all left out", async () => {
    const { store, now } = await openStore(makeDatabase);
    const good = statedCustomer(plain("1"));
    const bad = { ...statedCustomer(plain("2")), status: "asleep" } as unknown as StatedCustomer;
    await expect(store.importCustomers("production", [good, bad], by(now), "unsaid")).rejects.toThrow();
    expect(await customersOf(store, "production", "1")).toEqual([]);
    await store.importCustomers("production", [good], by(now), "unsaid");
    expect(await found(store.lookUpCustomers("production", "1"))).toEqual(["1"]);
  });

  test("names are kept in any script", async () => {
    const { store, another, now } = await openStore(makeDatabase);
    await restate(store, now, plain("1", { first_name: "राजेश", last_name: "O’Neil-🙂" }));
    const [customer] = await customersOf(await another(), "production", "1");
    expect(customer).toMatchObject({ firstName: "राजेश", lastName: "O’Neil-🙂", mobile: undefined });
  });
}

function plain(cuid: string, more: object = {}): object {
  return { cuid, first_name: "A", last_name: "B", status: "active", connections: {}, ...more };
}

async function found(customers: Promise<readonly { readonly cuid: string }[]>): Promise<string[]> {
  return (await customers).map(({ cuid }) => cuid).sort();
}
