import { expect, test } from "vitest";
import { DAY_MS } from "../../src/domain/wall-time.ts";
import { listEntries } from "../../src/office/audit/sql.ts";
import * as sql from "../../src/store/back-office/settlement-sums.ts";
import type { Pruned } from "../../src/store/retention.ts";
import type { Store } from "../../src/store/store.ts";
import { by } from "../support/by.ts";
import { plain } from "./customers.ts";
import { countRows, findWrong, type MakeDatabase, START } from "./database.ts";
import { endOf, FIBER, ledgersOf, openProvider, RAM_NET, SITA_NET } from "./provider.ts";

const HORIZON = START + 200 * DAY_MS;
const BEFORE_HORIZON = START + 100 * DAY_MS;
const YEAR_LATER = START + 400 * DAY_MS;

export function testRetention(makeDatabase: MakeDatabase): void {
  test("the horizon is written down with an entry in the audit trail, and never moves back", async () => {
    const { store, now } = await openProvider(makeDatabase);
    expect(await store.retention.prunedBefore()).toBeUndefined();
    await store.retention.moveHorizon(START + 5, by(now));
    await store.retention.moveHorizon(START + 3, by(now));
    expect(await store.retention.prunedBefore()).toBe(START + 5);
    await store.retention.moveHorizon(START + 7, by(now));
    const entries = await listEntries(store.engine.db, { action: "history.prune" }, 5);
    expect(entries.map(({ after }) => JSON.parse(after ?? ""))).toEqual([
      { prunedBefore: new Date(START + 7).toISOString() },
      { prunedBefore: new Date(START + 5).toISOString() },
    ]);
  });

  test("what is from before the horizon goes, with its top-ups and reversals, and nothing else changes", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const old = await opened.topUp(RAM_NET, "NET-1M");
    const reversed = await opened.topUp(RAM_NET, "NET-1M");
    await opened.reverse(reversed.checkoutId);
    opened.now = BEFORE_HORIZON;
    await opened.topUp(RAM_NET, "NET-1M");
    opened.now = YEAR_LATER;
    const young = await opened.topUp(RAM_NET, "NET-1M");
    const before = [await store.findConnection(RAM_NET), await store.findConnection(SITA_NET)];
    const pruned = await prune(store, HORIZON, { dryRun: true });
    expect(pruned.topUps).toBeGreaterThanOrEqual(2);
    expect(await countRows(opened, "top_up")).toBe(4);
    await store.retention.moveHorizon(HORIZON, by(opened.now));
    expect(await prune(store, HORIZON)).toEqual(pruned);
    expect(await countRows(opened, "top_up")).toBe(4 - pruned.topUps);
    expect([await store.findConnection(RAM_NET), await store.findConnection(SITA_NET)]).toEqual(before);
    const [ledger] = await ledgersOf(store, RAM_NET);
    expect(ledger?.entries.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6].slice(pruned.entries));
    for (const gone of [old, reversed]) expect(await store.findTransaction(gone.checkoutId)).toBeUndefined();
    expect(await store.findTransaction(young.checkoutId)).toEqual(young);
    expect(await countRows(opened, "reversal")).toBe(0);
    expect(await prune(store, HORIZON)).toEqual({ entries: 0, topUps: 0, retiredCheckouts: 0 });
    expect(await findWrong(store)).toEqual([]);
    await opened.topUp(RAM_NET, "NET-1M");
    expect(await endOf(store, RAM_NET, FIBER)).toBe("2028-02-25 09:00:00");
    expect(await findWrong(store)).toEqual([]);
  });

  test("an old top-up that was reversed lately stays with its reversal, and the day's settlement with both", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const old = await opened.topUp(RAM_NET, "NET-1M");
    opened.now = BEFORE_HORIZON;
    await opened.topUp(RAM_NET, "NET-1M");
    opened.now = YEAR_LATER;
    await opened.reverse(old.checkoutId);
    await opened.topUp(RAM_NET, "NET-1M");
    const settled = { environment: "production", partnerId: undefined, day: "2027-12-25" } as const;
    const reversals = await sql.sumReversals(store.engine.db, settled);
    expect(reversals).toHaveLength(1);
    await store.retention.moveHorizon(HORIZON, by(opened.now));
    await prune(store, HORIZON);
    expect(await sql.sumReversals(store.engine.db, settled)).toEqual(reversals);
    expect(await findWrong(store)).toEqual([]);
  });

  test("a subscription that still runs keeps all that made it", async () => {
    const opened = await openProvider(makeDatabase);
    for (let month = 0; month < 14; month += 1) await opened.topUp(SITA_NET, "NET-1M");
    opened.now = YEAR_LATER;
    await opened.store.retention.moveHorizon(HORIZON, by(opened.now));
    expect(await prune(opened.store, HORIZON)).toMatchObject({ topUps: 0 });
    expect(await endOf(opened.store, SITA_NET, FIBER)).toBe("2028-02-10 09:00:00");
  });

  test("retired checkouts go with the age of their checkout", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const old = opened.command(SITA_NET, "NET-1M").checkoutId;
    await store.concludeCheckout(old);
    opened.now = YEAR_LATER;
    const young = opened.command(SITA_NET, "NET-1M").checkoutId;
    await store.concludeCheckout(young);
    await store.retention.moveHorizon(HORIZON, by(opened.now));
    expect(await prune(store, HORIZON)).toMatchObject({ retiredCheckouts: 1 });
    expect(await store.findOutcome(young)).toEqual({ retiredAt: YEAR_LATER });
    expect(await store.findOutcome(old)).toBeUndefined();
    expect(await store.concludeCheckout(old)).toBe("pruned");
  });

  test("many customers go portion by portion, and what went is written down", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const connections = Array.from({ length: 450 }, (_, index) => ({
      ...RAM_NET,
      cuid: `C${index}`,
      reqId: `u${index}`,
    }));
    const rows = connections.map(({ cuid, reqId }) =>
      plain(cuid, { connections: { internet: [{ username: reqId, status: "active" }] } }),
    );
    await opened.restate(...rows);
    for (const now of [START, BEFORE_HORIZON, YEAR_LATER]) {
      opened.now = now;
      await Promise.all(connections.map((connection) => opened.topUp(connection, "NET-1M")));
    }
    await store.retention.moveHorizon(HORIZON, by(opened.now));
    const pruned = await prune(store, HORIZON);
    expect(pruned.entries).toBeGreaterThanOrEqual(450);
    expect(await countRows(opened, "top_up")).toBe(3 * 450 - pruned.topUps);
    await store.retention.recordPruned(pruned, by(opened.now));
    const [entry] = await listEntries(store.engine.db, {}, 1);
    expect(entry).toMatchObject({ action: "history.prune", subject: "history" });
    expect(JSON.parse(entry?.before ?? "")).toEqual(pruned);
    expect(await findWrong(store)).toEqual([]);
  });

  test("pruning and topping up at once, through two stores, lose nothing", async () => {
    const opened = await openProvider(makeDatabase);
    const other = await opened.another();
    await opened.topUp(RAM_NET, "NET-1M");
    opened.now = BEFORE_HORIZON;
    await opened.topUp(RAM_NET, "NET-1M");
    opened.now = YEAR_LATER;
    await opened.store.retention.moveHorizon(HORIZON, by(opened.now));
    await Promise.all([prune(other, HORIZON), ...[1, 2, 3, 4].map(() => opened.topUp(RAM_NET, "NET-1M"))]);
    await prune(other, HORIZON);
    expect(await countRows(opened, "top_up")).toBeLessThan(6);
    expect(await endOf(other, RAM_NET, FIBER)).toBe("2028-04-25 09:00:00");
    expect(await findWrong(other)).toEqual([]);
  });

  test("without a horizon, or before it alone, the database itself lets nothing go", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    await opened.topUp(RAM_NET, "NET-1M");
    opened.now = YEAR_LATER;
    await opened.topUp(RAM_NET, "NET-1M");
    await expect(prune(store, HORIZON)).rejects.toThrow("never deleted");
    await store.retention.moveHorizon(START - DAY_MS, by(opened.now));
    await expect(prune(store, HORIZON)).rejects.toThrow("never deleted");
    expect(await countRows(opened, "top_up")).toBe(2);
    expect(await findWrong(store)).toEqual([]);
  });
}

/** All portions, added up. */
async function prune({ retention }: Store, before: number, { dryRun = false } = {}): Promise<Pruned> {
  const sum = { entries: 0, topUps: 0, retiredCheckouts: 0 };
  const add = (pruned: Pruned) => {
    for (const key of ["entries", "topUps", "retiredCheckouts"] as const) sum[key] += pruned[key];
  };
  for (let portion = await retention.pruneLedgers(before, undefined, dryRun); ; ) {
    add(portion.pruned);
    if (portion.next === undefined) break;
    portion = await retention.pruneLedgers(before, portion.next, dryRun);
  }
  for (let portion = await retention.pruneRetired(before, undefined, dryRun); ; ) {
    add(portion.pruned);
    if (portion.next === undefined) return sum;
    portion = await retention.pruneRetired(before, portion.next, dryRun);
  }
}
