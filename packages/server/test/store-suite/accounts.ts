import fc from "fast-check";
import { expect, test } from "vitest";
import { ACCOUNT_ENTRY_KINDS, type AccountKey, type StaffEntryKind } from "../../src/domain/account.ts";
import type { TopUpCommand } from "../../src/domain/top-up.ts";
import { DAY_MS } from "../../src/domain/wall-time.ts";
import { type EntryPlace, placeOf } from "../../src/store/account-entries.ts";
import { sumBalance } from "../../src/store/account-sums.ts";
import { addToBalance, findAccount, readBalance } from "../../src/store/accounts.ts";
import type { OwnDays } from "../../src/store/own-pages.ts";
import { readSales } from "../../src/store/sales.ts";
import { RUNS } from "../domain/builders.ts";
import { by } from "../support/by.ts";
import { partnersOf, setAccount } from "../support/partners.ts";
import { AccountBook, pageThrough } from "./account-book.ts";
import { takeStep } from "./account-history.ts";
import { steps } from "./account-steps.ts";
import { findWrong, type MakeDatabase } from "./database.ts";
import { type OpenedProvider, openProvider, RAM_NET, RAM_TV, SITA_IPTV, SITA_NET, SITA_TV } from "./provider.ts";

const NET = 113_000n;
const LARGE = 10n ** 12n;

/** A provider whose partner has an account. @param creditLimit undefined: none. */
export async function openAccount(makeDatabase: MakeDatabase, creditLimit?: bigint, deposit = 0n) {
  const opened = await openProvider(makeDatabase);
  const { store, partner } = opened;
  const { engine, provider } = store;
  const key: AccountKey = { partnerId: partner.id, environment: "production" };
  let count = 0;
  const enter = (kind: StaffEntryKind, amount: bigint) => {
    count += 1;
    const { instant: at, wall } = provider.zone.moment(opened.now);
    const entry = { ...key, reference: `R${count}`, kind, reason: "test", author: "test", at, wall };
    return engine.transact(async (tx) => {
      await tx
        .insertInto("accountEntry")
        .values({ ...entry, amount: Number(amount) })
        .execute();
      await addToBalance(tx, key, amount);
    });
  };
  if (deposit > 0n) await enter("deposit", deposit);
  await setAccount(store, key, { creditLimit });
  const settle = async (command: TopUpCommand, on = store) => {
    const outcome = await on.settleTopUp(command);
    return outcome.kind === "refused" ? outcome.refusal : outcome.kind;
  };
  return Object.assign(opened, {
    key,
    enter,
    settle,
    entries: (days: OwnDays, ...place: [after?: EntryPlace, order?: "desc"]) => pageThrough(store, key, days, ...place),
    balance: (on = store) => readBalance(on.engine.db, key),
    summed: () => sumBalance(engine.db, key),
    buy: (code = "NET-1M", of = SITA_NET) => settle(opened.command(of, code)),
  });
}

/** Commission of 2.5 %, from today on. */
function agreeCommission({ store }: OpenedProvider, percent = 250) {
  const commission = JSON.stringify([{ percent, from: "2026-01-01" }]);
  return store.engine.change((tx) => tx.updateTable("partner").set({ commission }).execute());
}

/** Accounts of partners: what a top-up costs them, and how far they can go. */
export function testAccounts(makeDatabase: MakeDatabase): void {
  test("a prepaid partner tops up until its balance is zero, also within one batch, and after a deposit again", async () => {
    const opened = await openAccount(makeDatabase, 0n, NET * 3n);
    const commands = Array.from({ length: 5 }, () => opened.command(SITA_NET, "NET-1M"));
    const settled = await Promise.all(commands.map((command) => opened.settle(command)));
    expect(settled).toEqual([...Array(3).fill("recorded"), ...Array(2).fill("insufficient_balance")]);
    expect(await opened.balance()).toBe(0n);
    expect(await opened.store.settleTopUp(opened.command(SITA_NET, "NET-1M"))).toMatchObject({ missing: NET });
    expect(await opened.settle(commands[0] as TopUpCommand)).toBe("replayed");
    await opened.enter("deposit", NET);
    expect(await Promise.all([opened.buy(), opened.buy()])).toEqual(["recorded", "insufficient_balance"]);
    expect([await opened.balance(), await opened.summed()]).toEqual([0n, 0n]);
    expect(await findWrong(opened.store)).toEqual([]);
  });

  test("stores on one database share the balance, whichever of them settles", async () => {
    const opened = await openAccount(makeDatabase, 0n, NET * 10n);
    const stores = [opened.store, await opened.another(), await opened.another()];
    const of = [SITA_NET, RAM_NET, SITA_NET, SITA_NET];
    const commands = Array.from({ length: 30 }, (_, index) => opened.command(of[index % 4] ?? SITA_NET, "NET-1M"));
    const settled = await Promise.all(commands.map((command, index) => opened.settle(command, stores[index % 3])));
    expect(settled.filter((kind) => kind === "recorded")).toHaveLength(10);
    expect(settled.filter((kind) => kind === "insufficient_balance")).toHaveLength(20);
    expect(await Promise.all(stores.map((store) => opened.balance(store)))).toEqual([0n, 0n, 0n]);
    expect(await findWrong(opened.store)).toEqual([]);
  });

  test("a reversal returns what its top-up cost, whatever the balance and the commission are now", async () => {
    const opened = await openAccount(makeDatabase, 0n, NET);
    await agreeCommission(opened);
    const token = { id: "tok", partner: opened.partner, environment: "production", createdAt: 0 } as const;
    const ends = { expiresAt: undefined, revokedAt: undefined, replacedBy: undefined };
    await partnersOf(opened.store).addToken({ ...token, ...ends }, new Uint8Array(32), by(opened.now));
    const command = opened.command(SITA_NET, "NET-1M", { tokenId: "tok" });
    const outcome = await opened.store.settleTopUp(command);
    expect(outcome).toMatchObject({ kind: "recorded", transaction: { amount: NET, commission: 2_825n } });
    expect(await opened.balance()).toBe(2_825n);
    await opened.enter("withdrawal", -2_825n);
    await agreeCommission(opened, 0);
    await opened.reverse(command.checkoutId);
    expect(await opened.balance()).toBe(NET - 2_825n);
    expect(await opened.summed()).toBe(NET - 2_825n);
    await expect(opened.reverse(command.checkoutId)).rejects.toThrow("conflict");
    expect(await opened.balance()).toBe(NET - 2_825n);
    expect(await findWrong(opened.store)).toEqual([]);
  });

  test("an account without a limit is never changed by a top-up, and becomes guarded with all that happened", async () => {
    const opened = await openAccount(makeDatabase, undefined, 50_000n);
    expect(await opened.buy()).toBe("recorded");
    await opened.reverse((await opened.topUp(SITA_TV, "TV-1M")).checkoutId);
    const { store, key } = opened;
    expect((await findAccount(store.engine.db, key)).guarded).toBeUndefined();
    expect(await opened.balance()).toBe(50_000n - NET);
    await setAccount(store, key, { creditLimit: 100_000n });
    expect(await findAccount(store.engine.db, key)).toMatchObject({
      guarded: { balance: 50_000n - NET, creditLimit: 100_000n },
    });
    expect(await opened.buy("NET-3M")).toBe("insufficient_balance");
    expect(await opened.buy("ITV-1M", SITA_IPTV)).toBe("recorded");
    await setAccount(store, key, {});
    expect(await opened.buy("NET-3M")).toBe("recorded");
    expect(await opened.balance()).toBe(50_000n - NET - 30_000n - 322_000n);
    expect(await findWrong(store)).toEqual([]);
  });

  test("sums of days are those of their top-ups and reversals, also if the clock was ahead or behind", async () => {
    const opened = await openAccount(makeDatabase, undefined, 1_000n);
    const { store } = opened;
    const made: string[] = [];
    for (const days of [0, 3, -2, 30, -31, 1]) {
      opened.now += days * DAY_MS;
      for (const of of [SITA_NET, RAM_NET]) made.push((await opened.topUp(of, "NET-1M")).checkoutId);
      await opened.reverse(made.at(-2) as string);
    }
    const days = await readSales(store.engine.db, { environment: "production" });
    // Days of the clock: 20, 23, 21, 21 December, 20 and 21 November.
    const counts = Object.fromEntries(days.map(({ day, topUps, reversals }) => [day, [topUps, reversals]]));
    expect(counts).toEqual({ "2026-11-20": [4, 2], "2026-11-21": [4, 2], "2026-11-23": [2, 1], "2026-12-21": [2, 1] });
    expect(await opened.balance()).toBe(1_000n - NET * 6n);
    expect(await findWrong(store)).toEqual([]);
  });

  test("entries are listed once each, in their order, from any place on", async () => {
    const opened = await openAccount(makeDatabase, undefined, LARGE);
    const { store, key } = opened;
    const days = { from: "2026-11-20", to: "2026-11-22" };
    const [first] = [await opened.topUp(SITA_NET, "NET-1M"), await opened.topUp(RAM_TV, "TV-1M")];
    opened.now += DAY_MS;
    await opened.reverse((first as { checkoutId: string }).checkoutId);
    await opened.enter("adjustment", -5n);
    await opened.topUp(SITA_TV, "TV-1M");
    opened.now += DAY_MS;
    await opened.enter("withdrawal", -7n);
    const all = await opened.entries(days);
    const kinds = ["deposit", "top_up", "top_up", "adjustment", "top_up", "reversal", "withdrawal"];
    expect(all.map(({ kind }) => kind)).toEqual(kinds);
    expect(new Set(kinds)).toEqual(new Set(ACCOUNT_ENTRY_KINDS));
    const sum = all.reduce((balance, { amount }) => balance + amount, 0n);
    expect(sum).toBe(await opened.balance());
    expect(await opened.entries(days, undefined, "desc")).toEqual(all.toReversed());
    for (const [index, entry] of all.entries()) {
      expect(await opened.entries(days, placeOf(entry))).toEqual(all.slice(index + 1));
      expect(await opened.entries(days, placeOf(entry), "desc")).toEqual(all.slice(0, index).toReversed());
    }
    const other = (await partnersOf(store).add("bank", by(opened.now))).id;
    for (const of of [
      { ...key, partnerId: other },
      { ...key, environment: "trial" as const },
    ])
      expect(await pageThrough(store, of, days)).toEqual([]);
  });

  test("pages of top-ups alone, and of reversals alone, lead to the next one", async () => {
    const opened = await openAccount(makeDatabase);
    const day = { from: "2026-11-20", to: "2026-11-20" };
    const made: string[] = [];
    for (let count = 0; count < 7; count += 1) {
      opened.now += 1_000;
      made.push((await opened.topUp(SITA_NET, "NET-1M")).checkoutId);
    }
    const listed = async (order?: "desc") =>
      (await opened.entries(day, undefined, order)).map((entry) => [entry.kind, "of" in entry && entry.of.checkoutId]);
    const topUps = made.map((checkoutId) => ["top_up", checkoutId]);
    expect([await listed(), await listed("desc")]).toEqual([topUps, topUps.toReversed()]);
    for (const checkoutId of made) {
      opened.now += 1_000;
      await opened.reverse(checkoutId);
    }
    const all = [...topUps, ...made.map((checkoutId) => ["reversal", checkoutId])];
    expect([await listed(), await listed("desc")]).toEqual([all, all.toReversed()]);
  });

  test("the sums of days hold all of their first and last day, and nothing else", async () => {
    const opened = await openAccount(makeDatabase);
    const { store, key } = opened;
    for (const [time, amount] of [
      ["2026-11-19T23:59:59.999Z", 1n],
      ["2026-11-20T00:00:00Z", 10n],
      ["2026-11-21T23:59:59.999Z", 100n],
      ["2026-11-22T00:00:00Z", 1_000n],
    ] as const) {
      opened.now = Date.parse(time);
      await opened.enter("deposit", amount);
    }
    const sum = (from?: string, to?: string) => sumBalance(store.engine.db, key, { from, to });
    const [first, last] = ["2026-11-20", "2026-11-21"];
    expect([await sum(first, last), await sum(first, first), await sum(last, last)]).toEqual([110n, 10n, 100n]);
    expect([await sum(undefined, last), await sum(first), await sum()]).toEqual([111n, 1_110n, 1_111n]);
    expect((await opened.entries({ from: first, to: last })).map(({ amount }) => amount)).toEqual([10n, 100n]);
  });

  test("a stored balance or sum that is not that of its entries is found", async () => {
    const opened = await openAccount(makeDatabase, 10n * NET);
    await opened.buy();
    expect(await findWrong(opened.store)).toEqual([]);
    await opened.database.tamper("UPDATE account SET balance = balance + 1");
    expect(await findWrong(opened.store)).toEqual([expect.stringContaining("its balance is not the sum")]);
    await opened.database.tamper("UPDATE account SET balance = balance - 1");
    await opened.database.tamper("UPDATE sales_day SET commission = 1");
    expect(await findWrong(opened.store)).toEqual([
      expect.stringContaining("the sums of 2026-11-20 are not"),
      expect.stringContaining("its balance is not the sum"),
    ]);
    await opened.database.tamper("DELETE FROM sales_day");
    expect(await findWrong(opened.store)).toContainEqual(expect.stringContaining("the sums of 2026-11-20 are missing"));
  });

  test("an entry by staff is never changed or deleted", async () => {
    const { store } = await openAccount(makeDatabase, undefined, 1n);
    const { engine } = store;
    await expect(
      engine.transact((tx) => tx.updateTable("accountEntry").set({ amount: 2 }).execute()),
    ).rejects.toThrow();
    await expect(engine.transact((tx) => tx.deleteFrom("accountEntry").execute())).rejects.toThrow();
  });

  test("in any order of events, entries only grow, have causes, and add up to a balance that no top-up overdraws", async () => {
    const opened = await openProvider(makeDatabase);
    const stores = [opened.store, await opened.another()] as const;
    let books = 0;
    const history = fc.asyncProperty(steps, async (taken) => {
      books += 1;
      const book = await AccountBook.open(opened, stores, books);
      for (const each of taken) await takeStep(book, each);
      await book.expectWhole();
    });
    await fc.assert(history, { ...RUNS, numRuns: 5 });
    expect(await findWrong(opened.store)).toEqual([]);
  });
}
