import { expect, test } from "vitest";
import { connectionState } from "../../src/domain/customer.ts";
import { findCuids } from "../../src/office/customer-search.ts";
import { findCustomer } from "../../src/store/customers.ts";
import { by } from "../support/by.ts";
import { type MakeDatabase, openStore } from "./database.ts";
import {
  FAMILY,
  FIBER,
  fileRules,
  importRows,
  moment,
  openProvider,
  RAM_NET,
  SITA,
  SITA_NET,
  SITA_TV,
  statedCustomer,
} from "./provider.ts";

const STB = "007700000000001";

export function testCustomers(makeDatabase: MakeDatabase): void {
  test("a customer is found by each of its codes, compared exactly", async () => {
    const { store } = await openProvider(makeDatabase);
    for (const code of ["2000001", "9800000101", STB, "sita", "sita-iptv"])
      expect(await found(store.lookUpCustomers("production", code)), code).toEqual(["2000001"]);
    for (const code of ["7700000000001", "SITA", "sita ", "sit", "%", "Sita", "Rai", ""])
      expect(await store.lookUpCustomers("production", code), code).toEqual([]);
  });

  test("a look-up gives the status data of each connection, in the provider's order", async () => {
    const { store } = await openProvider(makeDatabase);
    for (const cuid of ["2000001", "2000002", "2000003"]) {
      const found = await findCustomer(store.engine.db, "production", cuid);
      if (found === undefined) throw new Error("it was imported");
      const { asOf: _, mobileForm: __, ...customer } = found;
      const connections = customer.connections.map((each) => {
        const { service, reqId } = each;
        return { service, reqId, ...connectionState(each) };
      });
      expect(await store.lookUpCustomers("production", cuid)).toEqual([{ ...customer, connections }]);
    }
    const [sita] = await store.lookUpCustomers("production", "sita");
    expect(sita?.connections).toEqual([
      { service: "tv", reqId: STB, status: "active", blocked: false, baseEnd: "2026-12-10 09:00:00" },
      { service: "internet", reqId: "sita", status: "active", blocked: false, baseEnd: "2026-12-10 09:00:00" },
      { service: "iptv", reqId: "sita-iptv", status: "inactive", blocked: false, baseEnd: undefined },
    ]);
  });

  test("an add-on does not make a connection active: its base subscriptions say until when it is", async () => {
    const { store, now } = await openProvider(makeDatabase);
    const box = (stb: string, ...codes: [code: string, enddate: string][]) => ({
      ...{ stb, status: "active" },
      subscriptions: codes.map(([code, enddate]) => ({ code, startdate: "2026-10-01 09:00:00", enddate })),
    });
    const [soon, late] = ["2026-11-01 09:00:00", "2026-12-01 09:00:00"];
    const tv = [box("b1", ["TV-1M", soon], ["KIDS-1M", late]), box("b2", ["KIDS-1M", late])];
    await importRows(store, now, plain("1", { connections: { tv } }));
    const [customer] = await store.lookUpCustomers("production", "b1");
    expect(customer?.connections.map(({ reqId, baseEnd }) => [reqId, baseEnd])).toEqual([
      ["b1", soon],
      ["b2", undefined],
    ]);
  });

  test("a mobile number that several share finds two: enough to know that it is ambiguous", async () => {
    const { store, now } = await openStore(makeDatabase);
    await importRows(store, now, ...["1", "2", "3"].map((cuid) => plain(cuid, { mobile: "98" })));
    expect(await store.lookUpCustomers("production", "98")).toHaveLength(2);
    expect(await found(store.lookUpCustomers("production", "2"))).toEqual(["2"]);
  });

  test("one customer's mobile number that is another's set-top box finds both", async () => {
    const { store, now } = await openStore(makeDatabase);
    const owner = plain("2", { connections: { tv: [{ stb: "98", status: "active" }] } });
    await importRows(store, now, plain("1", { mobile: "98" }), owner);
    expect(await found(store.lookUpCustomers("production", "98"))).toEqual(["1", "2"]);
  });

  test("a text that names one customer twice finds that customer once", async () => {
    const { store, now } = await openStore(makeDatabase);
    const connections = { tv: [{ stb: "98", status: "active" }], internet: [{ username: "98", status: "active" }] };
    await importRows(store, now, plain("1", { mobile: "98", connections }));
    expect(await found(store.lookUpCustomers("production", "98"))).toEqual(["1"]);
  });

  test("a mobile number is found however it is written, where the provider has a country", async () => {
    const { store, now } = await openStore(makeDatabase, { defaultCountry: "NP" });
    await importRows(store, now, plain("1", { mobile: "984-1234567" }));
    for (const code of ["984-1234567", "9841234567", "+977 9841234567", "977 984 123 4567"]) {
      expect(await found(store.lookUpCustomers("production", code))).toEqual(["1"]);
      expect(await findCuids(store, "production", code, 5)).toEqual(["1"]);
    }
    await importRows(store, now, plain("1", { mobile: "9841234568" }));
    expect(await store.lookUpCustomers("production", "984-1234567")).toEqual([]);
    expect(await store.lookUpCustomers("production", "9841234567")).toEqual([]);
  });

  test("trial and production customers never see each other", async () => {
    const { store, now } = await openProvider(makeDatabase);
    expect(await store.lookUpCustomers("trial", "2000001")).toEqual([]);
    expect(await store.findConnection({ ...SITA_TV, environment: "trial" })).toBeUndefined();
    const stated = statedCustomer({ ...SITA, first_name: "Trial" });
    await store.importCustomers("trial", [{ stated, asOf: moment(store, now) }], by(now), fileRules(store, now));
    expect((await store.lookUpCustomers("trial", "2000001")).map(({ firstName }) => firstName)).toEqual(["Trial"]);
    expect((await store.lookUpCustomers("production", "2000001")).map(({ firstName }) => firstName)).toEqual(["Sita"]);
  });

  test("a connection is found with its customer and what it has of each plan", async () => {
    const { store } = await openProvider(makeDatabase);
    const profile = { cuid: "2000001", firstName: "Sita", lastName: "Rai", mobile: "9800000101", status: "active" };
    const tv = { service: "tv", reqId: STB, status: "active", blocked: false, segment: "sd" };
    const bouquet = { code: "TV-1M", name: "Family TV (MONTHLY)", addOn: false };
    const dates = { start: "2026-11-10 09:00:00", anchor: "2026-11-10 09:00:00", end: "2026-12-10 09:00:00" };
    const subscription = { plan: FAMILY, bouquet, ...dates, months: 1, days: 0, isInclusive: false };
    const ledgers = [{ plan: FAMILY, seq: 1, subscription: { ...subscription, since: 1, goodwillDays: 0 } }];
    expect(await store.findConnection(SITA_TV)).toEqual({ profile, connection: { ...tv, ledgers } });
    const net = await store.findConnection(SITA_NET);
    expect(net?.connection?.ledgers).toMatchObject([{ plan: FIBER, subscription: { plan: FIBER } }]);
  });

  test("a customer has no connection of another service, another customer or an unknown name", async () => {
    const { store } = await openProvider(makeDatabase);
    for (const change of [{ service: "iptv" }, { reqId: RAM_NET.reqId }, { reqId: "nobody" }] as const) {
      const answer = await store.findConnection({ ...SITA_NET, ...change });
      expect([answer?.profile.cuid, answer?.connection]).toEqual(["2000001", undefined]);
    }
    expect(await store.findConnection({ ...SITA_NET, cuid: "9" })).toBeUndefined();
  });

  test("names are kept in any script", async () => {
    const { store, another, now } = await openStore(makeDatabase);
    await importRows(store, now, plain("1", { first_name: "राजेश", last_name: 'O’Neil-🙂 "F" \\' }));
    const customer = await findCustomer((await another()).engine.db, "production", "1");
    expect(customer).toMatchObject({ firstName: "राजेश", lastName: 'O’Neil-🙂 "F" \\', mobile: undefined });
  });
}

export function plain(cuid: string, more: object = {}): object {
  return { cuid, first_name: "A", last_name: "B", status: "active", connections: {}, ...more };
}

async function found(customers: Promise<readonly { readonly cuid: string }[]>): Promise<string[]> {
  return (await customers).map(({ cuid }) => cuid).sort();
}
