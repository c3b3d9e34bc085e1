import { expect, test } from "vitest";
import { CHECKOUT_VALID_MS } from "../../src/domain/checkout.ts";
import { DAY_MS, dayAt } from "../../src/domain/wall-time.ts";
import { refusedToday } from "../../src/office/partners/refused.ts";
import { openAccountDesk } from "./account-desk.ts";
import { openAccount } from "./accounts.ts";
import { countRows, findWrong, type MakeDatabase } from "./database.ts";
import { openProvider, SITA_NET } from "./provider.ts";

const NET = 113_000n;

/** A refusal by balance or limit is the outcome of its checkout. */
export function testRefusals(makeDatabase: MakeDatabase): void {
  test("no deposit, other values, time or restart change a refusal by balance", async () => {
    const opened = await openAccount(makeDatabase, 0n);
    const { store, key } = opened;
    const command = opened.command(SITA_NET, "NET-1M");
    const { checkoutId } = command;
    const refused = { ...key, reason: "insufficient_balance", limit: undefined, amount: NET };
    const retired = { retiredAt: opened.now, refused };
    const again = { kind: "refused", refusal: "insufficient_balance", retired };
    expect(await store.settleTopUp(command)).toEqual({ ...again, missing: NET });
    await opened.enter("deposit", NET * 10n);
    const stores = [store, await opened.another()];
    const changes = [{}, { amount: 1n }, { bouquetCode: "NET-3M" }, { cuid: "2000002" }, { tokenId: "gone" }];
    for (const later of [1, CHECKOUT_VALID_MS, -CHECKOUT_VALID_MS]) {
      opened.now += later;
      for (const on of stores) {
        for (const change of changes) expect(await on.settleTopUp({ ...command, ...change })).toEqual(again);
        expect(await on.concludeCheckout(checkoutId)).toBeUndefined();
        expect(await on.findOutcome(checkoutId)).toEqual(retired);
      }
    }
    for (const on of stores) await on.close();
    const restarted = await opened.another();
    expect(await restarted.settleTopUp(command)).toEqual(again);
    expect(await opened.settle(opened.command(SITA_NET, "NET-1M"), restarted)).toBe("recorded");
    expect(await findWrong(restarted)).toEqual([]);
  });

  test("a limit that is lifted does not change its refusals", async () => {
    const opened = await openProvider(makeDatabase, { monthsAhead: 1 });
    const command = opened.command(SITA_NET, "NET-3M");
    const refused = { refusal: "limit_reached", retired: { refused: { limit: "paid_ahead" } } };
    expect(await opened.store.settleTopUp(command)).toMatchObject(refused);
    const lifted = await opened.another({ monthsAhead: 36 });
    expect(await lifted.settleTopUp(command)).toMatchObject(refused);
    expect((await lifted.settleTopUp(opened.command(SITA_NET, "NET-3M"))).kind).toBe("recorded");
  });

  test("twenty requests with one checkout all succeed or are all refused, while a deposit comes", async () => {
    const opened = await openAccount(makeDatabase, 0n);
    const stores = [opened.store, await opened.another()];
    for (let round = 0; round < 12; round += 1) {
      const command = opened.command(SITA_NET, "NET-1M");
      const send = (index: number) => opened.settle(command, stores[index % 2]);
      const first = Array.from({ length: 10 }, (_, index) => send(index));
      for (let turn = 0; turn < round % 4; turn += 1) await opened.store.ping();
      const depositing = opened.enter("deposit", NET);
      const rest = Array.from({ length: 10 }, (_, index) => send(index));
      const outcomes = await Promise.all([...first, ...rest]);
      await depositing;
      const isRefused = outcomes.includes("insufficient_balance");
      const kinds = isRefused ? ["insufficient_balance"] : ["recorded", "replayed"];
      expect(new Set(outcomes)).toEqual(new Set(kinds));
      expect(outcomes.filter((kind) => kind === "recorded")).toHaveLength(isRefused ? 0 : 1);
      if (isRefused) await opened.enter("withdrawal", -NET);
    }
    expect(await opened.balance()).toBe(0n);
    expect(await findWrong(opened.store)).toEqual([]);
  });

  test("a day's refusals are counted once each checkoutId, with their amounts, by reason and limit", async () => {
    const opened = await openAccountDesk(makeDatabase);
    const { store, settle, command, partner } = opened;
    const { db } = store.engine;
    await opened.account({ creditLimit: "0" });
    const firstAt = opened.now;
    const poor = command(SITA_NET, "NET-1M");
    for (const each of [poor, poor, command(SITA_NET, "NET-1M"), poor]) {
      expect(await settle(each)).toBe("insufficient_balance");
      opened.now += 1;
    }
    await opened.limit({ topUpAmount: "1" });
    expect((await opened.buy())[0]).toBe("limit_reached");
    const { checkoutId } = command(SITA_NET, "NET-1M");
    opened.now += 10 * CHECKOUT_VALID_MS;
    await store.concludeCheckout(checkoutId);
    expect(await countRows(opened, "retired_checkout")).toBe(4);
    const key = { partnerId: partner.id, environment: "production" };
    const day = dayAt(opened.now, store.provider.zone);
    expect(await refusedToday(db, day)).toEqual([
      { ...key, reason: "insufficient_balance", limit: undefined, count: 2, amount: 2n * NET, firstAt },
      { ...key, reason: "limit_reached", limit: "top_up_amount", count: 1, amount: NET, firstAt: firstAt + 4 },
    ]);
    expect(await refusedToday(db, { start: day.end, end: day.end + DAY_MS })).toEqual([]);
  });

  test("a batch that fails retires nothing, and its items are decided again", async () => {
    const opened = await openAccount(makeDatabase, 0n, NET * 2n);
    const { store, command, settle } = opened;
    const recorded = command(SITA_NET, "NET-1M");
    expect(await settle(recorded)).toBe("recorded");
    // The same txnId again is a defect, which fails its batch.
    const failing = command(SITA_NET, "NET-1M", { txnDigits: recorded.txnDigits });
    const good = command(SITA_NET, "NET-1M");
    const [failed, settled] = await Promise.allSettled([settle(failing), settle(good)]);
    expect([failed.status, settled]).toEqual(["rejected", { status: "fulfilled", value: "recorded" }]);
    expect(await countRows(opened, "retired_checkout")).toBe(0);
    expect(await store.findOutcome(failing.checkoutId)).toBeUndefined();
    expect(await findWrong(store)).toEqual([]);
  });

  test("a top-up with a retired checkout is found", async () => {
    const opened = await openAccount(makeDatabase);
    const { checkoutId, txnId } = await opened.topUp(SITA_NET, "NET-1M");
    const row = { partnerId: null, environment: null, reason: null, limitName: null, amount: null };
    await opened.store.engine.change((tx) =>
      tx
        .insertInto("retiredCheckout")
        .values({ checkoutId, at: 1, ...row })
        .execute(),
    );
    expect(await findWrong(opened.store)).toEqual([`the top-up ${txnId} has a checkoutId that was retired`]);
  });
}
