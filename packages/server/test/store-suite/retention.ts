import { expect, test } from "vitest";
import { DAY_MS } from "../../src/domain/wall-time.ts";
import { listEntries } from "../../src/office/audit/sql.ts";
import { reverseTransaction } from "../../src/office/corrections/reversal.ts";
import { prune } from "../../src/office/maintenance/operations.ts";
import { sumBalance } from "../../src/store/account-sums.ts";
import { readSales } from "../../src/store/sales.ts";
import { readHorizon } from "../../src/store/settings.ts";
import { NO_LIMITS, refusal, run } from "../support/desk.ts";
import { moveHorizon, pruneHistory } from "../support/history.ts";
import { plain } from "./customers.ts";
import { countRows, findWrong, type MakeDatabase, START } from "./database.ts";
import { endOf, FIBER, ledgersOf, openProvider, RAM_NET, SITA_NET } from "./provider.ts";

const HORIZON = START + 200 * DAY_MS;
const BEFORE_HORIZON = START + 100 * DAY_MS;
const YEAR_LATER = START + 400 * DAY_MS;

export function testRetention(makeDatabase: MakeDatabase): void {
  test("the horizon is written down with an entry in the audit trail, and never moves back", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    expect(await readHorizon(store.engine.db)).toBeUndefined();
    await moveHorizon(opened, START + 5);
    await moveHorizon(opened, START + 3);
    expect(await readHorizon(store.engine.db)).toBe(START + 5);
    await moveHorizon(opened, START + 7);
    const entries = await listEntries(store.engine.db, { action: "history.prune" }, 5);
    expect(entries.map(({ after }) => JSON.parse(after ?? ""))).toEqual([
      { prunedBefore: new Date(START + 7).toISOString() },
      { prunedBefore: new Date(START + 5).toISOString() },
    ]);
  });

  test("history of two months is kept, and a preview says what would be deleted", async () => {
    const opened = await openProvider(makeDatabase);
    const { engine } = opened.store;
    const key = { partnerId: opened.partner.id, environment: "production" } as const;
    for (let times = 0; times < 5; times += 1) {
      await opened.topUp(RAM_NET, "NET-1M");
      opened.now += 200 * DAY_MS;
    }
    const of = (olderThan: string, more: object = {}) => run(opened.desk(), prune, { olderThan, ...more });
    const least = { field: "olderThan", problem: "must be at least 62 days" };
    expect(await refusal(of("61d"))).toMatchObject({ problems: [least] });
    expect((await refusal(of("7"))).problems).toMatchObject([{ problem: "must be an age such as 7y, 18m or 400d" }]);
    const would = await of("62d", { preview: true });
    expect(would).toMatchObject({ preview: true, topUps: 4 });
    expect(await readHorizon(opened.store.engine.db)).toBeUndefined();
    expect(await countRows(opened, "top_up")).toBe(5);
    expect(await of("62d", { reason: "old books" })).toEqual({ ...would, preview: false });
    expect(await readHorizon(opened.store.engine.db)).toBe(Date.parse(would.before));
    expect(await of("62d")).toMatchObject({ ledgerEntries: 0, topUps: 0 });
    expect(await sumBalance(engine.db, key)).toBe(-5n * 113_000n);
    const entries = await listEntries(opened.store.engine.db, { action: "history.prune" }, 5);
    expect(entries.map(({ author, reason }) => [author, reason])).toEqual([
      ["tester", "old books"],
      ["tester", "old books"],
    ]);
    expect(await findWrong(opened.store)).toEqual([]);
  });

  test("history before the horizon is deleted, with its top-ups and reversals, and nothing else changes", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const old = await opened.topUp(RAM_NET, "NET-1M");
    const reversed = await opened.topUp(RAM_NET, "NET-1M");
    const limited = { ...opened.desk(), limits: { ...NO_LIMITS, secondPersonReversal: 0n } };
    await run(limited, reverseTransaction, { id: reversed.txnId, reason: "paid twice" });
    await opened.reverse(reversed.checkoutId);
    expect(await countRows(opened, "approval")).toBe(1);
    opened.now = BEFORE_HORIZON;
    await opened.topUp(RAM_NET, "NET-1M");
    opened.now = YEAR_LATER;
    const young = await opened.topUp(RAM_NET, "NET-1M");
    const before = [await store.findConnection(RAM_NET), await store.findConnection(SITA_NET)];
    const pruned = await pruneHistory(opened, HORIZON, true);
    expect(pruned.topUps).toBeGreaterThanOrEqual(2);
    expect(await countRows(opened, "top_up")).toBe(4);
    await moveHorizon(opened, HORIZON);
    expect(await pruneHistory(opened, HORIZON)).toEqual(pruned);
    expect(await countRows(opened, "top_up")).toBe(4 - pruned.topUps);
    expect([await store.findConnection(RAM_NET), await store.findConnection(SITA_NET)]).toEqual(before);
    const [ledger] = await ledgersOf(store, RAM_NET);
    expect(ledger?.entries.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6].slice(pruned.entries));
    for (const gone of [old, reversed]) expect(await store.findTransaction(gone.checkoutId)).toBeUndefined();
    expect(await store.findTransaction(young.checkoutId)).toEqual(young);
    for (const table of ["reversal", "approval"]) expect(await countRows(opened, table)).toBe(0);
    expect(await pruneHistory(opened, HORIZON)).toEqual({ entries: 0, topUps: 0, retiredCheckouts: 0 });
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
    const day = { from: "2027-12-25", to: "2027-12-25" };
    const sales = await readSales(store.engine.db, day);
    expect(sales.filter(({ reversals }) => reversals > 0)).toHaveLength(1);
    await moveHorizon(opened, HORIZON);
    await pruneHistory(opened, HORIZON);
    expect(await readSales(store.engine.db, day)).toEqual(sales);
    expect(await findWrong(store)).toEqual([]);
  });

  test("a subscription that still runs keeps all that made it", async () => {
    const opened = await openProvider(makeDatabase);
    for (let month = 0; month < 14; month += 1) await opened.topUp(SITA_NET, "NET-1M");
    opened.now = YEAR_LATER;
    await moveHorizon(opened, HORIZON);
    expect(await pruneHistory(opened, HORIZON)).toMatchObject({ topUps: 0 });
    expect(await endOf(opened.store, SITA_NET, FIBER)).toBe("2028-02-10 09:00:00");
  });

  test("retired checkouts go with the age of their checkout", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const old = opened.command(SITA_NET, "NET-1M").checkoutId;
    await store.concludeCheckout(old);
    opened.now = YEAR_LATER;
    const ahead = opened.command(SITA_NET, "NET-1M").checkoutId;
    opened.now = START + 1;
    await store.concludeCheckout(ahead);
    opened.now = YEAR_LATER;
    const young = opened.command(SITA_NET, "NET-1M").checkoutId;
    await store.concludeCheckout(young);
    await moveHorizon(opened, HORIZON);
    expect(await pruneHistory(opened, HORIZON)).toMatchObject({ retiredCheckouts: 1 });
    expect(await store.findOutcome(young)).toEqual({ retiredAt: YEAR_LATER });
    // It was issued while the clock was ahead, so that it could still be used.
    expect(await store.findOutcome(ahead)).toEqual({ retiredAt: START + 1 });
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
    await moveHorizon(opened, HORIZON);
    const pruned = await pruneHistory(opened, HORIZON);
    expect(pruned.entries).toBeGreaterThanOrEqual(450);
    expect(await countRows(opened, "top_up")).toBe(3 * 450 - pruned.topUps);
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
    await moveHorizon(opened, HORIZON);
    await Promise.all([
      pruneHistory({ ...opened, store: other }, HORIZON),
      ...[1, 2, 3, 4].map(() => opened.topUp(RAM_NET, "NET-1M")),
    ]);
    await pruneHistory({ ...opened, store: other }, HORIZON);
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
    await expect(pruneHistory(opened, HORIZON)).rejects.toThrow("never deleted");
    await moveHorizon(opened, START - DAY_MS);
    await expect(pruneHistory(opened, HORIZON)).rejects.toThrow("never deleted");
    expect(await countRows(opened, "top_up")).toBe(2);
    expect(await findWrong(store)).toEqual([]);
  });
}
