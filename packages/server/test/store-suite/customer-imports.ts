import { expect, test } from "vitest";
import { by } from "../support/by.ts";
import { customersOf } from "../support/customers-of.ts";
import { countRows, findWrong, type MakeDatabase } from "./database.ts";
import {
  endOf,
  expectRecorded,
  openProvider,
  RAM_NET,
  restate,
  SITA,
  SITA_IPTV,
  SITA_NET,
  SITA_TV,
  statedCustomer,
} from "./provider.ts";

const FIBER = "Fiber 100 Mbps";
const FAMILY = "Family TV";
const [SITA_BOX] = SITA.connections.tv;

export function testCustomerImports(makeDatabase: MakeDatabase): void {
  test("particulars that are stated anew replace those that were", async () => {
    const { store, now } = await openProvider(makeDatabase);
    await restate(store, now, { ...SITA, last_name: "Tamang", mobile: "9800000999", status: "inactive" });
    const [customer] = await customersOf(store, "production", "9800000999");
    expect(customer).toMatchObject({ cuid: "2000001", lastName: "Tamang", status: "inactive" });
    expect(await customersOf(store, "production", "9800000101")).toEqual([]);
    expect(await customersOf(store, "production", "2000001")).toHaveLength(1);
  });

  test("a mobile number that one gives up and another takes finds the other alone", async () => {
    const { store, now } = await openProvider(makeDatabase);
    const { mobile, ...without } = SITA;
    await restate(store, now, { ...SITA, cuid: "2000009", connections: {} });
    expect(await customersOf(store, "production", mobile)).toHaveLength(2);
    await restate(store, now, without);
    const left = await customersOf(store, "production", mobile);
    expect(left.map(({ cuid }) => cuid)).toEqual(["2000009"]);
  });

  test("customers that a file does not name stay as they are", async () => {
    const { store, now } = await openProvider(makeDatabase);
    const before = await customersOf(store, "production", "2000002");
    await restate(store, now + 1, SITA);
    expect(await customersOf(store, "production", "2000002")).toEqual(before);
  });

  test("a file that is imported again says nothing new", async () => {
    const opened = await openProvider(makeDatabase);
    const { store, now } = opened;
    const customer = await customersOf(store, "production", "2000001");
    const grants = await countRows(opened, "subscription_grant");
    expect(grants).toBe(4);
    await restate(store, now + 1000, SITA);
    await restate(await opened.another(), now + 2000, SITA);
    expect(await countRows(opened, "subscription_grant")).toBe(grants);
    expect(await customersOf(store, "production", "2000001")).toEqual(customer);
  });

  test("a top-up is not lost by importing the file from before it", async () => {
    const opened = await openProvider(makeDatabase);
    const { store, now } = opened;
    expectRecorded(await store.settleTopUp(opened.command(SITA_NET, "NET-3M")));
    await restate(store, now + 1000, SITA);
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2027-03-10 09:00:00");
    expect(await findWrong(store)).toEqual([]);
  });

  test("a file that has taken a top-up in does not count it twice", async () => {
    const opened = await openProvider(makeDatabase);
    const { store, now } = opened;
    expectRecorded(await store.settleTopUp(opened.command(SITA_NET, "NET-1M")));
    const subscriptions = [{ code: "NET-1M", startdate: "2026-11-10 09:00:00", enddate: "2027-01-10 09:00:00" }];
    const internet = [{ username: "sita", status: "active", subscriptions }];
    await restate(store, now + 1000, { ...SITA, connections: { ...SITA.connections, internet } });
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2027-01-10 09:00:00");
    expect(await findWrong(store)).toEqual([]);
  });

  const ofSita = (table: string) => `DELETE FROM ${table} WHERE cuid = '${SITA.cuid}'`;
  test.each([
    ["the profile", [ofSita("customer")]],
    ["every connection", [ofSita("connection")]],
    ["every subscription", [ofSita("subscription")]],
    ["everything but the ledgers", ["customer", "connection", "subscription", "customer_code"].map(ofSita)],
  ])("of a customer of whom %s was removed by hand, an import gives back what was paid", async (_, removal) => {
    const opened = await openProvider(makeDatabase);
    const { store, now } = opened;
    expectRecorded(await store.settleTopUp(opened.command(SITA_NET, "NET-3M")));
    for (const sql of removal) await opened.database.tamper(sql);
    expect(await findWrong(store)).not.toEqual([]);
    await restate(store, now + 1000, SITA);
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2027-03-10 09:00:00");
    expect(await findWrong(store)).toEqual([]);

    for (const sql of removal) await opened.database.tamper(sql);
    const subscriptions = [{ code: "NET-1M", startdate: "2026-11-10 09:00:00", enddate: "2027-01-10 09:00:00" }];
    const internet = [{ username: "sita", status: "active", subscriptions }];
    await restate(store, now + 2000, { ...SITA, connections: { ...SITA.connections, internet } });
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2027-04-10 09:00:00");
    expect(await findWrong(store)).toEqual([]);
  });

  test("what was bought here alone comes back, and a block stays, though the file says nothing of either", async () => {
    const opened = await openProvider(makeDatabase);
    const { store, now } = opened;
    for (let times = 0; times < 3; times += 1)
      expectRecorded(await store.settleTopUp(opened.command(SITA_IPTV, "ITV-1M")));
    const paid = await endOf(store, SITA_IPTV, "IPTV");
    await store.corrections.setBlocked(SITA_NET, true, { ...by(now), reason: "stolen" });
    for (const table of ["customer", "subscription"]) await opened.database.tamper(ofSita(table));
    await restate(store, now + 1000, SITA);
    expect(await endOf(store, SITA_IPTV, "IPTV")).toBe(paid);
    expect((await store.findConnection(SITA_NET))?.connection?.blocked).toBe(true);
    expect(await findWrong(store)).toEqual([]);
  });

  test("a top-up that came between the removal and the import goes on from what was paid before", async () => {
    const opened = await openProvider(makeDatabase);
    const { store, now } = opened;
    expectRecorded(await store.settleTopUp(opened.command(SITA_NET, "NET-3M")));
    await opened.database.tamper(ofSita("subscription"));
    expectRecorded(await store.settleTopUp(opened.command(SITA_NET, "NET-1M")));
    await restate(store, now + 1000, SITA);
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2027-04-10 09:00:00");
    expect(await findWrong(store)).toEqual([]);
  });

  test("a reset takes back also what was removed by hand", async () => {
    const opened = await openProvider(makeDatabase);
    const { store, now } = opened;
    expectRecorded(await store.settleTopUp(opened.command(SITA_NET, "NET-3M")));
    expectRecorded(await store.settleTopUp(opened.command(SITA_IPTV, "ITV-1M")));
    await opened.database.tamper(ofSita("subscription"));
    await store.importCustomers("production", [statedCustomer(SITA)], by(now + 1000), "reset");
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2026-12-10 09:00:00");
    expect(await endOf(store, SITA_IPTV, "IPTV")).toBeUndefined();
    expect(await findWrong(store)).toEqual([]);
  });

  test("a later end that the provider states holds", async () => {
    const { store, now } = await openProvider(makeDatabase);
    const subscriptions = [{ code: "TV-1M", startdate: "2026-11-10 09:00:00", enddate: "2027-02-10 09:00:00" }];
    const tv = [{ ...SITA_BOX, subscriptions }];
    await restate(store, now + 1000, { ...SITA, connections: { ...SITA.connections, tv } });
    expect(await endOf(store, SITA_TV, FAMILY)).toBe("2027-02-10 09:00:00");
    expect(await findWrong(store)).toEqual([]);
  });

  test("a subscription that the provider states no longer ends, if nobody topped it up", async () => {
    const opened = await openProvider(makeDatabase);
    const { store, now } = opened;
    expectRecorded(await store.settleTopUp(opened.command(SITA_NET, "NET-1M")));
    const tv = [{ ...SITA_BOX, subscriptions: [] }];
    const internet = [{ username: "sita", status: "active" }];
    await restate(store, now + 1000, { ...SITA, connections: { tv, internet } });
    expect(await endOf(store, SITA_TV, FAMILY)).toBeUndefined();
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2027-01-10 09:00:00");
    expect(await findWrong(store)).toEqual([]);
  });

  test("a connection that the provider states no longer is gone, with its code", async () => {
    const { store, now } = await openProvider(makeDatabase);
    const { internet } = SITA.connections;
    await restate(store, now + 1000, { ...SITA, connections: { internet } });
    expect(await customersOf(store, "production", SITA_TV.reqId)).toEqual([]);
    expect((await store.findConnection(SITA_TV))?.connection).toBeUndefined();
    expect((await customersOf(store, "production", "2000001"))[0]?.connections).toHaveLength(1);
    expect(await findWrong(store)).toEqual([]);
  });

  test("a connection that was topped up stays, though the provider states it no longer", async () => {
    const opened = await openProvider(makeDatabase);
    const { store, now } = opened;
    expectRecorded(await store.settleTopUp(opened.command(SITA_TV, "TV-1M")));
    const { internet } = SITA.connections;
    await restate(store, now + 1000, { ...SITA, connections: { internet } });
    const [customer] = await customersOf(store, "production", SITA_TV.reqId);
    expect(customer?.connections.map(({ reqId }) => reqId)).toEqual(["sita", SITA_TV.reqId]);
    expect(await endOf(store, SITA_TV, FAMILY)).toBe("2027-01-10 09:00:00");
    expect(await findWrong(store)).toEqual([]);
  });

  test("a connection that is gone and comes back is as the provider states it then", async () => {
    const { store, now } = await openProvider(makeDatabase);
    await restate(store, now + 1000, { ...SITA, connections: {} });
    await restate(store, now + 2000, SITA);
    expect(await endOf(store, SITA_TV, FAMILY)).toBe("2026-12-10 09:00:00");
    expect(await findWrong(store)).toEqual([]);
  });

  test("an inactive status that is stated again does not undo a top-up, and a change of it does", async () => {
    const opened = await openProvider(makeDatabase);
    const { store, now } = opened;
    const ram = (status: string) => ({
      cuid: "2000002",
      first_name: "Ram",
      last_name: "Sherpa",
      status: "active",
      connections: { internet: [{ username: "ram", status }] },
    });
    const toppedUp = async () => (await store.findConnection(RAM_NET))?.connection?.toppedUp;
    expectRecorded(await store.settleTopUp(opened.command(RAM_NET, "NET-1M")));
    await restate(store, now + 1000, ram("inactive"));
    expect(await toppedUp()).toBe(true);
    await restate(store, now + 2000, ram("blocked"));
    await restate(store, now + 3000, ram("inactive"));
    expect(await toppedUp()).toBe(false);
    expect(await endOf(store, RAM_NET, FIBER)).toBe("2026-12-20 09:00:00");
  });

  test("a reset puts a customer back to what is stated, and leaves the top-up on record", async () => {
    const opened = await openProvider(makeDatabase);
    const { store, now } = opened;
    const before = await customersOf(store, "production", "2000001");
    const command = opened.command(SITA_NET, "NET-3M");
    const transaction = expectRecorded(await store.settleTopUp(command));
    await store.importCustomers("production", [statedCustomer(SITA)], by(now + 1000), "reset");
    expect(await customersOf(store, "production", "2000001")).toEqual(before);
    expect(await store.findTransaction(command.checkoutId)).toEqual(transaction);
    expect(await store.settleTopUp(command)).toEqual({ kind: "replayed", transaction });
    expect(await findWrong(store)).toEqual([]);
  });

  test("a customer who stands three times among others is as stated last", async () => {
    const opened = await openProvider(makeDatabase);
    const { store, now } = opened;
    const ending = (enddate: string, last_name: string) => {
      const subscriptions = [{ code: "NET-1M", startdate: "2026-11-10 09:00:00", enddate }];
      return { ...SITA, last_name, connections: { internet: [{ username: "sita", status: "active", subscriptions }] } };
    };
    const others = [3, 4].map((digit) => ({ ...SITA, cuid: `200001${digit}`, mobile: "98", connections: {} }));
    const [first, second] = others as [object, object];
    const files = [ending("2027-01-10 09:00:00", "A"), first, ending("2027-02-10 09:00:00", "B"), second];
    await restate(store, now + 1000, ...files, ending("2027-03-10 09:00:00", "C"));
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2027-03-10 09:00:00");
    expect((await customersOf(store, "production", "2000001"))[0]).toMatchObject({ lastName: "C" });
    expect(await customersOf(store, "production", "98")).toHaveLength(2);
    expect(await findWrong(store)).toEqual([]);
  });

  test("many customers, new ones and known ones among each other, are all as stated", async () => {
    const opened = await openProvider(makeDatabase);
    const { store, now } = opened;
    const subscriptions = [{ code: "NET-1M", startdate: "2026-11-10 09:00:00", enddate: "2026-12-10 09:00:00" }];
    const stated = (index: number, more: object = {}) => ({
      ...{
        cuid: `C${index}`,
        first_name: `"F" \\ ${index}`,
        last_name: "\u0928\u0947\u092a\u093e\u0932 \u{1f600}",
        status: "active",
      },
      connections: { internet: [{ username: `u${index}`, status: "active", subscriptions }] },
      ...more,
    });
    const every = (step: number) => Array.from({ length: 600 / step }, (_, index) => index * step);
    await restate(store, now, ...every(2).map((index) => stated(index)));
    await restate(
      store,
      now + 1000,
      ...every(1).map((index) => stated(index, index % 3 === 0 ? { mobile: "97" } : {})),
    );
    for (const index of [0, 1, 2, 3, 249, 250, 251, 499, 500, 599]) {
      const [customer] = await customersOf(store, "production", `u${index}`);
      const { first_name: firstName, last_name: lastName } = stated(index);
      const mobile = index % 3 === 0 ? "97" : undefined;
      expect(customer).toMatchObject({ cuid: `C${index}`, firstName, lastName, mobile });
      expect(customer?.connections.map((connection) => connection.subscriptions.length)).toEqual([1]);
    }
    expect(await countRows(opened, "subscription_grant")).toBe(4 + 600);
    expect(await findWrong(store)).toEqual([]);
  });

  test("two stores that import and top up at once lose neither", async () => {
    const opened = await openProvider(makeDatabase);
    const other = await opened.another();
    const commands = Array.from({ length: 10 }, () => opened.command(SITA_NET, "NET-1M"));
    const settled = commands.flatMap((command) => [
      opened.store.settleTopUp(command),
      restate(other, opened.now, SITA).then(() => undefined),
    ]);
    const outcomes = (await Promise.all(settled)).filter((outcome) => outcome !== undefined);
    for (const outcome of outcomes) expectRecorded(outcome);
    expect(await endOf(other, SITA_NET, FIBER)).toBe("2027-10-10 09:00:00");
    expect(await findWrong(other)).toEqual([]);
  });
}
