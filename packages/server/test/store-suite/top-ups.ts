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
  FAMILY,
  FIBER,
  openProvider,
  RAM_NET,
  RAM_TV,
  SITA_IPTV,
  SITA_NET,
  SITA_TV,
} from "./provider.ts";

export function testTopUps(makeDatabase: MakeDatabase): void {
  test("a top-up is recorded as it was asked for, at the time it was decided", async () => {
    const opened = await openProvider(makeDatabase);
    const command = opened.command(SITA_NET, "NET-3M", { udf1: "order-1", udf2: "खाता" });
    const transaction = expectRecorded(await opened.store.settleTopUp(command));
    const { checkout: _, ...asked } = command;
    const decided = { at: opened.now, txnDate: "2026-11-20 09:00:00", status: "success" };
    expect(transaction).toEqual({ ...asked, ...decided });
    expect(await opened.store.findTransaction(command.checkoutId)).toEqual(transaction);
    expect(await (await opened.another()).findTransaction(command.checkoutId)).toEqual(transaction);
  });

  test("a transaction is dated by the provider's clock", async () => {
    const { topUp } = await openProvider(makeDatabase, { timeZone: "Asia/Kathmandu" });
    expect((await topUp(SITA_NET, "NET-3M")).txnDate).toBe("2026-11-20 14:45:00");
  });

  test("a checkoutId is compared exactly", async () => {
    const { store, topUp } = await openProvider(makeDatabase);
    const { checkoutId } = await topUp(SITA_NET, "NET-1M");
    for (const other of [checkoutId.toLowerCase(), checkoutId.slice(0, -1), `${checkoutId} `, "%", ""])
      expect(await store.findTransaction(other)).toBeUndefined();
  });

  test("a running subscription goes on from its end", async () => {
    const { store, topUp } = await openProvider(makeDatabase);
    await topUp(SITA_NET, "NET-3M");
    const found = await store.findConnection(SITA_NET);
    const shown = { code: "NET-3M", name: "Fiber 100 Mbps (QUARTERLY)", addOn: false };
    const dates = { start: "2026-11-10 09:00:00", end: "2027-03-10 09:00:00" };
    expect(found?.connection?.ledgers).toMatchObject([
      { plan: FIBER, seq: 2, subscription: { bouquet: shown, ...dates } },
    ]);
  });

  test("a lapsed subscription begins anew, and one that never was gets its first entry", async () => {
    const { store, topUp } = await openProvider(makeDatabase);
    await topUp(RAM_NET, "NET-1M");
    const ram = await store.findConnection(RAM_NET);
    const run = { start: "2026-11-20 09:00:00", end: "2026-12-20 09:00:00" };
    expect(ram?.connection?.ledgers).toMatchObject([{ seq: 2, subscription: { ...run, since: 2 } }]);
    await topUp(SITA_IPTV, "ITV-1M");
    const sita = await store.findConnection(SITA_IPTV);
    expect(sita?.connection?.ledgers).toMatchObject([{ plan: "IPTV", seq: 1, subscription: { ...run, since: 1 } }]);
  });

  test("a top-up touches its own connection and plan alone", async () => {
    const { store, topUp } = await openProvider(makeDatabase);
    const others = () => Promise.all([SITA_TV, SITA_IPTV, RAM_NET, RAM_TV].map((each) => store.findConnection(each)));
    const before = await others();
    await topUp(SITA_NET, "NET-1M");
    expect(await others()).toEqual(before);
    await topUp(SITA_TV, "KIDS-1M");
    expect(await endOf(store, SITA_TV, FAMILY)).toBe("2026-12-10 09:00:00");
    expect(await endOf(store, SITA_TV, "Kids [AddOn]")).toBe("2026-12-20 09:00:00");
  });

  test("the same request again is answered with the first one's transaction, also long after, and changes nothing", async () => {
    const opened = await openProvider(makeDatabase);
    const command = opened.command(SITA_NET, "NET-1M", { udf1: "order-1" });
    const transaction = expectRecorded(await opened.store.settleTopUp(command));
    for (const wait of [60_000, 1000 * CHECKOUT_VALID_MS]) {
      opened.now += wait;
      const again = { ...command, txnId: "ANOTHER", udf1: "order-2" };
      expect(await opened.store.settleTopUp(again)).toEqual({ kind: "replayed", transaction });
      expect(await (await opened.another()).settleTopUp(again)).toEqual({ kind: "replayed", transaction });
    }
    expect(await endOf(opened.store, SITA_NET, FIBER)).toBe("2027-01-10 09:00:00");
    expect(await countRows(opened, "top_up")).toBe(1);
  });

  const differences: readonly (readonly [string, Partial<TopUpCommand>, string])[] = [
    ["amount", { amount: 1n }, "checkout_used"],
    ["bouquet", { bouquetCode: "NET-3M" }, "checkout_used"],
    ["customer", { cuid: "2000002" }, "checkout_used"],
    ["reqId", { reqId: "ram" }, "checkout_used"],
    ["service", { service: "iptv" }, "checkout_used"],
    ["environment", { environment: "trial" }, "checkout_used"],
    ["partner", { partnerId: 77 }, "checkout_unknown"],
  ];
  test.each(differences)("a used checkout with another %s is refused", async (_, difference, refusal) => {
    const opened = await openProvider(makeDatabase);
    const command = opened.command(SITA_NET, "NET-1M");
    const transaction = expectRecorded(await opened.store.settleTopUp(command));
    expect(await opened.store.settleTopUp({ ...command, ...difference })).toEqual({ kind: "refused", refusal });
    expect(await opened.store.findTransaction(command.checkoutId)).toEqual(transaction);
    expect(await countRows(opened, "top_up")).toBe(1);
  });

  test("the quoted price holds though the catalogue has changed, and the new one does not", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const old = opened.command(SITA_NET, "NET-1M");
    const wrong = opened.command(SITA_NET, "NET-1M", { amount: 120_000n });
    const dearer = bouquet("internet", "NET-1M", "Fiber 200 Mbps (QUARTERLY)", "1200");
    const { revision } = await store.catalogues.publish("production", [dearer], by(opened.now));
    expect(await store.settleTopUp(wrong)).toEqual({ kind: "refused", refusal: "amount_mismatch" });
    expectRecorded(await store.settleTopUp(old));
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2027-01-10 09:00:00");
    const net = { internet: "many", tv: "many", iptv: "many" } as const;
    const other = await opened.another({ basePlans: net });
    const quoted = opened.quote(SITA_NET, { revision });
    expectRecorded(await other.settleTopUp({ ...opened.command(SITA_NET, "NET-1M"), ...quoted, amount: 120_000n }));
    expect(await endOf(store, SITA_NET, "Fiber 200 Mbps")).toBe("2027-02-20 09:00:00");
  });

  test("a revision from before the store was opened is honoured", async () => {
    const opened = await openProvider(makeDatabase);
    const command = opened.command(SITA_NET, "NET-3M");
    await opened.store.catalogues.publish("production", BOUQUETS.slice(0, 1), by(opened.now));
    await opened.store.close();
    expectRecorded(await (await opened.another()).settleTopUp(command));
  });

  test("what is stored after all kinds of top-ups is in order", async () => {
    const opened = await openProvider(makeDatabase);
    const asked = [
      [SITA_TV, "TV-1M"],
      [SITA_TV, "KIDS-1M"],
      [RAM_TV, "TV-3M"],
      [SITA_IPTV, "ITV-1M"],
      [RAM_TV, "KIDS-1M"],
    ] as const;
    for (const [connection, code] of asked) {
      await opened.topUp(connection, code);
      opened.now += 86_400_000;
    }
    expect(await countRows(opened, "top_up")).toBe(5);
    expect(await findWrong(opened.store)).toEqual([]);
  });
}
