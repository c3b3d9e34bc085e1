import { expect, test } from "vitest";
import { CHECKOUT_VALID_MS } from "../../src/domain/checkout.ts";
import type { TopUpCommand } from "../../src/domain/top-up.ts";
import { by } from "../support/by.ts";
import { countRows, findWrong, type MakeDatabase } from "./database.ts";
import {
  BOUQUETS,
  bouquet,
  endOf,
  expectRecorded,
  openProvider,
  RAM_NET,
  RAM_TV,
  SITA_IPTV,
  SITA_NET,
  SITA_TV,
} from "./provider.ts";

const FIBER = "Fiber 100 Mbps";

export function testTopUps(makeDatabase: MakeDatabase): void {
  test("a top-up is recorded as it was asked for, at the time it was decided", async () => {
    const opened = await openProvider(makeDatabase);
    const command = opened.command(SITA_NET, "NET-3M", { udf1: "order-1", udf2: "खाता" });
    const outcome = await opened.store.settleTopUp(command);
    const { checkout: _, ...asked } = command;
    expect(expectRecorded(outcome)).toEqual({ ...asked, at: opened.now, status: "success" });
    expect(await opened.store.findTransaction(command.checkoutId)).toEqual(expectRecorded(outcome));
  });

  test("a running subscription goes on from its end", async () => {
    const opened = await openProvider(makeDatabase);
    expectRecorded(await opened.store.settleTopUp(opened.command(SITA_NET, "NET-3M")));
    const found = await opened.store.findConnection(SITA_NET);
    expect(found?.connection?.subscriptions).toMatchObject([
      { plan: FIBER, bouquet: { code: "NET-3M", name: "Fiber 100 Mbps (QUARTERLY)", addOn: false } },
    ]);
    expect(await endOf(opened.store, SITA_NET, FIBER)).toBe("2027-03-10 09:00:00");
  });

  test("a lapsed subscription begins anew, and the connection counts as topped up", async () => {
    const opened = await openProvider(makeDatabase);
    const state = async () => (await opened.store.findConnection(RAM_NET))?.connection;
    expect(await state()).toMatchObject({ status: "inactive", toppedUp: false });
    expectRecorded(await opened.store.settleTopUp(opened.command(RAM_NET, "NET-1M")));
    expect(await state()).toMatchObject({ status: "inactive", toppedUp: true, subscriptions: [{ start: opened.now }] });
    expect(await endOf(opened.store, RAM_NET, FIBER)).toBe("2026-12-20 09:00:00");
  });

  test("a connection that never had a subscription gets its first", async () => {
    const opened = await openProvider(makeDatabase);
    expectRecorded(await opened.store.settleTopUp(opened.command(SITA_IPTV, "ITV-1M")));
    expect(await endOf(opened.store, SITA_IPTV, "IPTV")).toBe("2026-12-20 09:00:00");
  });

  test("a top-up touches its own connection and plan alone", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const others = () => Promise.all([SITA_TV, SITA_IPTV, RAM_NET, RAM_TV].map((each) => store.findConnection(each)));
    const before = await others();
    expectRecorded(await store.settleTopUp(opened.command(SITA_NET, "NET-1M")));
    expect(await others()).toEqual(before);
    expectRecorded(await store.settleTopUp(opened.command(SITA_TV, "KIDS-1M")));
    expect(await endOf(store, SITA_TV, "Family TV")).toBe("2026-12-10 09:00:00");
    expect(await endOf(store, SITA_TV, "Kids [AddOn]")).toBe("2026-12-20 09:00:00");
  });

  test("a top-up shows at once in another open store, and after reopening", async () => {
    const opened = await openProvider(makeDatabase);
    const other = await opened.another();
    const command = opened.command(SITA_NET, "NET-1M");
    const transaction = expectRecorded(await opened.store.settleTopUp(command));
    expect(await other.findTransaction(command.checkoutId)).toEqual(transaction);
    expect(await endOf(other, SITA_NET, FIBER)).toBe("2027-01-10 09:00:00");
    await opened.store.close();
    await other.close();
    expect(await (await opened.another()).findTransaction(command.checkoutId)).toEqual(transaction);
  });

  test("the same request again is answered with the first one's transaction, and changes nothing", async () => {
    const opened = await openProvider(makeDatabase);
    const command = opened.command(SITA_NET, "NET-1M", { udf1: "order-1" });
    const transaction = expectRecorded(await opened.store.settleTopUp(command));
    opened.now += 60_000;
    const again = { ...command, txnId: "ANOTHER", udf1: "order-2" };
    expect(await opened.store.settleTopUp(again)).toEqual({ kind: "replayed", transaction });
    expect(await (await opened.another()).settleTopUp(again)).toEqual({ kind: "replayed", transaction });
    expect(await endOf(opened.store, SITA_NET, FIBER)).toBe("2027-01-10 09:00:00");
    expect(await countRows(opened, "top_up")).toBe(1);
  });

  test("a replay holds long after the checkout has expired", async () => {
    const opened = await openProvider(makeDatabase);
    const command = opened.command(SITA_NET, "NET-1M");
    const transaction = expectRecorded(await opened.store.settleTopUp(command));
    opened.now += 1000 * CHECKOUT_VALID_MS;
    expect(await opened.store.settleTopUp(command)).toEqual({ kind: "replayed", transaction });
  });

  const differences: readonly (readonly [string, Partial<TopUpCommand>])[] = [
    ["amount", { amount: 1n }],
    ["bouquet", { bouquetCode: "NET-3M" }],
    ["customer", { cuid: "2000002" }],
    ["reqId", { reqId: "ram" }],
    ["service", { service: "iptv" }],
    ["environment", { environment: "trial" }],
  ];
  test.each(differences)("a used checkout with another %s is refused as used", async (_, difference) => {
    const opened = await openProvider(makeDatabase);
    const command = opened.command(SITA_NET, "NET-1M");
    const transaction = expectRecorded(await opened.store.settleTopUp(command));
    const outcome = await opened.store.settleTopUp({ ...command, ...difference });
    expect(outcome).toEqual({ kind: "refused", refusal: "checkout_used" });
    expect(await opened.store.findTransaction(command.checkoutId)).toEqual(transaction);
    expect(await countRows(opened, "top_up")).toBe(1);
  });

  test("a used checkout is unknown to another partner", async () => {
    const opened = await openProvider(makeDatabase);
    const command = opened.command(SITA_NET, "NET-1M");
    expectRecorded(await opened.store.settleTopUp(command));
    const outcome = await opened.store.settleTopUp({ ...command, partnerId: opened.partner.id + 1 });
    expect(outcome).toEqual({ kind: "refused", refusal: "checkout_unknown" });
  });

  test("the quoted price holds though the catalogue has changed, and the new one does not", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const old = opened.command(SITA_NET, "NET-1M");
    const wrong = opened.command(SITA_NET, "NET-1M", { amount: 120_000n });
    const dearer = bouquet("internet", "NET-1M", "Fiber 200 Mbps (QUARTERLY)", "1200");
    const { revision } = await store.publishCatalogue("production", [dearer], by(opened.now));
    expect(await store.settleTopUp(wrong)).toEqual({ kind: "refused", refusal: "amount_mismatch" });
    expectRecorded(await store.settleTopUp(old));
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2027-01-10 09:00:00");
    const quoted = opened.quote(SITA_NET, { revision });
    expectRecorded(await store.settleTopUp({ ...opened.command(SITA_NET, "NET-1M"), ...quoted, amount: 120_000n }));
    expect(await endOf(store, SITA_NET, "Fiber 200 Mbps")).toBe("2027-02-20 09:00:00");
  });

  test("a revision from before the store was opened is honoured", async () => {
    const opened = await openProvider(makeDatabase);
    const command = opened.command(SITA_NET, "NET-3M");
    await opened.store.publishCatalogue("production", BOUQUETS.slice(0, 1), by(opened.now));
    await opened.store.close();
    expectRecorded(await (await opened.another()).settleTopUp(command));
  });

  test("what is stored after all kinds of top-ups is in order", async () => {
    const opened = await openProvider(makeDatabase);
    const { store, command } = opened;
    for (const [connection, code] of [
      [SITA_TV, "TV-1M"],
      [SITA_TV, "KIDS-1M"],
      [RAM_TV, "TV-3M"],
      [SITA_IPTV, "ITV-1M"],
      [RAM_TV, "KIDS-1M"],
    ] as const) {
      expectRecorded(await store.settleTopUp(command(connection, code)));
      opened.now += 86_400_000;
    }
    expect(await countRows(opened, "top_up")).toBe(5);
    expect(await findWrong(store)).toEqual([]);
  });
}
