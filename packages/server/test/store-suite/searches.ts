import { expect, test } from "vitest";
import type { Partner } from "../../src/domain/access-token.ts";
import type { ConnectionKey } from "../../src/domain/customer.ts";
import type { TopUpCommand } from "../../src/domain/top-up.ts";
import type { Transaction } from "../../src/domain/transaction.ts";
import { countRunning } from "../../src/office/imports/runs.ts";
import {
  addTransactions,
  type FoundTransactions,
  readTransactions,
  type TransactionFilter,
  type TransactionPage,
} from "../../src/office/transactions/lists.ts";
import { findByTxnIds, findReversals } from "../../src/office/transactions/sql.ts";
import { by } from "../support/by.ts";
import { partnersOf } from "../support/partners.ts";
import type { MakeDatabase } from "./database.ts";
import {
  expectRecorded,
  importRows,
  moment,
  openProvider,
  RAM,
  RAM_NET,
  RAM_TV,
  SITA,
  SITA_IPTV,
  SITA_NET,
  SITA_TV,
} from "./provider.ts";

const HOUR = 3_600_000;
const FIRST_PAGE: TransactionPage = { limit: 100 };
const MOST = 100_000;

export function testSearches(makeDatabase: MakeDatabase): void {
  test("a list shows all that is recorded, newest first, with every field", async () => {
    const { list, transactions } = await openHistory(makeDatabase);
    expect(await list({})).toEqual(transactions.toReversed());
    expect(await list({ environment: "trial" })).toEqual([]);
    expect(await list({ environment: "trial", cuids: [SITA.cuid] })).toEqual([]);
  });

  test("a list shows what every filter lets through, alone and with others, with a customer and without", async () => {
    const { opened, list, transactions, bank, partner } = await openHistory(makeDatabase);
    const [second, fifth] = [transactions[1], transactions[4]] as [Transaction, Transaction];
    const choices: Partial<TransactionFilter>[] = [
      ...[{ partnerId: bank.id }, { partnerId: partner.id }, { partnerId: 99 }],
      ...([{ service: "tv" }, { service: "internet" }] as const),
      ...[{ cuids: [SITA.cuid] }, { cuids: ["2000002", SITA.cuid] }, { cuids: ["nobody"] }],
      ...[{ reqId: "sita" }, { reqId: "SITA" }, { amount: 113_000n }, { amount: 1n }],
      ...([{ status: "success" }, { status: "reversed" }] as const),
      ...[{ bouquetCode: "NET-1M" }, { bouquetCode: "net-1m" }],
      ...[{ udf1: "order-1" }, { udf1: "order-3" }, { udf2: "till-1" }, { environment: "trial" as const }],
      ...[{ from: second.at }, { until: fifth.at }, { from: second.at, until: fifth.at }, { from: second.at + 1 }],
    ];
    let shown = 0;
    for (const one of choices)
      for (const other of choices) {
        const filter: Partial<TransactionFilter> = { ...one, ...other };
        const expected = transactions.filter((transaction) => passes(transaction, filter)).toReversed();
        expect(await list(filter)).toEqual(expected);
        shown += expected.length;
        if (one === other)
          expect(
            await addTransactions(opened.store.engine, { environment: "production", ...one }, undefined, MOST),
          ).toEqual({ sum: sumOf(expected), rest: undefined });
      }
    expect(shown).toBeGreaterThan(100);
  });

  test("a list goes by the time of the decision, to the millisecond, also where the clock was set back before it", async () => {
    const { opened, list } = await openHistory(makeDatabase);
    opened.now += 40 * 24 * HOUR;
    const command = opened.command(SITA_TV, "TV-1M");
    opened.now -= 39 * 24 * HOUR;
    const transaction = expectRecorded(await opened.store.settleTopUp(command));
    const { at } = transaction;
    expect(at).toBe(opened.now);
    expect(await list({ from: at, until: at + 1 })).toEqual([transaction]);
    expect(await list({ from: at + 1 })).toEqual([]);
    expect(await list({ until: at })).not.toContainEqual(transaction);
  });

  test("the pages of a list join without a gap or a repetition, though top-ups come in between", async () => {
    const { list, read, opened } = await openHistory(makeDatabase);
    for (const filter of [{}, { cuids: [SITA.cuid] }, { from: 0 }]) {
      const expected = (await list(filter)).map(({ txnId }) => txnId);
      const seen: string[] = [];
      let before: string | undefined;
      do {
        const { items, rest } = await read(filter, { before, limit: 2 });
        seen.push(...items.map(({ txnId }) => txnId));
        before = rest;
        opened.now += HOUR;
        await opened.topUp(SITA_NET, "NET-1M");
      } while (before !== undefined);
      expect(seen).toEqual(expected);
    }
  });

  test("pages that read forward join without a gap or a repetition, the oldest first", async () => {
    const { list, read, transactions, opened } = await openHistory(makeDatabase);
    for (const filter of [{}, { cuids: [SITA.cuid] }, { from: 0 }]) {
      const seen: Transaction[] = [];
      let after: string | undefined = "0";
      do {
        const page: FoundTransactions = await read(filter, { after, limit: 2 });
        seen.push(...page.items);
        after = page.rest;
      } while (after !== undefined);
      expect(seen).toEqual((await list(filter)).toReversed());
      const last = seen.at(-1)?.txnId as string;
      opened.now += HOUR;
      const next = await opened.topUp(SITA_NET, "NET-1M");
      expect(await list(filter, { after: last, limit: 2 })).toEqual([next]);
    }
    expect(transactions.length).toBeGreaterThan(4);
  });

  test("a page ends after it looked at ten times the largest one, and the next one continues there", async () => {
    const { opened, transactions } = await openHistory(makeDatabase);
    const { engine } = opened.store;
    const { txnId, checkoutId } = transactions[2] as Transaction;
    await opened.database.tamper(manyCopies(txnId, checkoutId, 11_000));
    const [first, second, , , fifth, sixth] = transactions;
    const pages = async (filter: Partial<TransactionFilter>, after?: string) => {
      const found: [number, boolean][] = [];
      const items: Transaction[] = [];
      for (let place = after; ; ) {
        const at = after === undefined ? { before: place } : { after: place as string };
        const page = await readTransactions(engine, { environment: "production", ...filter }, { ...at, limit: 2 });
        found.push([page.items.length, page.isCut]);
        items.push(...page.items);
        place = page.rest;
        if (place === undefined) return { found, items };
      }
    };
    // No index has amounts or udf2.
    const empty = [0, true] as const;
    const { udf2 = "", amount } = first as Transaction;
    const tills = await pages({ udf2 });
    expect([tills.items, tills.found.map(([, isCut]) => isCut)]).toEqual([
      [transactions[2], first],
      [true, true, false],
    ]);
    expect((await pages({ udf2 }, "0")).items).toEqual([first, transactions[2]]);
    expect((await pages({ amount: amount + 1n })).found).toEqual([empty, empty, [0, false]]);
    // Their indexes have these.
    expect(await pages({ udf1: "order-1" })).toEqual({ found: [[2, false]], items: [fifth, first] });
    expect(await pages({ udf1: "order-2" })).toEqual({ found: [[1, false]], items: [second] });
    expect(await pages({ status: "reversed" })).toEqual({ found: [[1, false]], items: [sixth] });
    expect((await pages({ environment: "trial" })).found).toEqual([[0, false]]);
    const add = (before: string | undefined) => addTransactions(engine, { environment: "production" }, before, 5_000);
    const [one, two] = [
      await add(undefined),
      (await addTransactions(engine, { environment: "production" }, undefined, MOST)).sum,
    ];
    const [three, four] = [await add(one.rest), two.count - one.sum.count];
    expect([one.sum.count, three.sum.count, four]).toEqual([5_000n, 5_000n, 6_006n]);
    expect(two.amount).toBe(sumOf(transactions).amount + 11_000n * 113_000n);
  });

  test("a list of a connection has the top-ups of all customers who had it, since it was removed or moved", async () => {
    const { list, transactions, opened } = await openHistory(makeDatabase);
    const [first, , , , fifth] = transactions;
    const [{ internet: _, ...others }, { internet: rams }] = [SITA.connections, RAM.connections];
    const moved = [...rams, { username: "sita", status: "active" }];
    opened.now += 400 * 24 * HOUR;
    await importRows(opened.store, opened.now, { ...SITA, connections: { ...others, internet: [] } });
    expect(await list({ reqId: "sita" })).toEqual([fifth, first]);
    opened.now += HOUR;
    await importRows(opened.store, opened.now, { ...RAM, connections: { ...RAM.connections, internet: moved } });
    const next = await opened.topUp({ ...RAM_NET, reqId: "sita" }, "NET-1M");
    expect(await list({ reqId: "sita" })).toEqual([next, fifth, first]);
    expect(await list({ reqId: "sita", cuids: [SITA.cuid] })).toEqual([fifth, first]);
  });

  test("transactions and reversals are found by their txnIds, compared exactly", async () => {
    const { store, transactions } = await openHistory(makeDatabase);
    const txnIds = transactions.map(({ txnId }) => txnId);
    const lower = txnIds.map((txnId) => txnId.toLowerCase());
    const found = await findByTxnIds(store.engine.db, [...txnIds, ...lower]);
    expect([...found.keys()].sort()).toEqual(txnIds);
    for (const transaction of transactions) expect(found.get(transaction.txnId)).toEqual(transaction);
    const reversed = transactions.at(-1) as Transaction;
    const reversal = { ...moment(store, reversed.at), author: "tester", reason: "paid twice" };
    const { instant: at, ...rest } = reversal;
    expect(await findReversals(store.engine.db, txnIds)).toEqual(new Map([[reversed.txnId, { at, ...rest }]]));
    expect(await findByTxnIds(store.engine.db, [])).toEqual(new Map());
    expect(await findReversals(store.engine.db, [])).toEqual(new Map());
  });

  test("running subscriptions and active customers are counted as of now", async () => {
    const { store, topUp } = await openProvider(makeDatabase);
    await topUp(RAM_NET, "NET-1M");
    const count = (now: string) => countRunning(store.engine.db, "production", now);
    expect(await count("2026-11-20 09:00:00")).toEqual({ runningSubscriptions: 3, activeCustomers: 3 });
    expect(await count("2026-12-10 09:00:00")).toEqual({ runningSubscriptions: 1, activeCustomers: 3 });
    expect(await countRunning(store.engine.db, "trial", "2026-11-20 09:00:00")).toEqual({
      runningSubscriptions: 0,
      activeCustomers: 0,
    });
  });
}

/** Six top-ups of two partners, an hour apart; the last was reversed at once. Oldest first. */
async function openHistory(makeDatabase: MakeDatabase) {
  const opened = await openProvider(makeDatabase);
  const { store, partner } = opened;
  const bank = (await partnersOf(store).add("bank", by(opened.now))) as Partner;
  const topUp = async (
    connection: ConnectionKey,
    code: string,
    more: Partial<TopUpCommand> = {},
    partnerId = partner.id,
  ) => {
    opened.now += HOUR;
    const quote = opened.quote(connection, { partnerId });
    return expectRecorded(await store.settleTopUp(opened.command(connection, code, { ...quote, partnerId, ...more })));
  };
  const transactions = [
    await topUp(SITA_NET, "NET-1M", { udf1: "order-1", udf2: "till-1" }),
    await topUp(SITA_TV, "TV-1M", { udf1: "order-2" }),
    await topUp(RAM_NET, "NET-1M", { udf2: "till-1" }),
    await topUp(RAM_TV, "TV-3M"),
    await topUp(SITA_NET, "NET-1M", { udf1: "order-1" }, bank.id),
    await topUp(SITA_IPTV, "ITV-1M", {}, bank.id),
  ];
  const last = transactions.at(-1) as Transaction;
  await opened.reverse(last.checkoutId, "paid twice");
  transactions[5] = { ...last, status: "reversed" };
  const read = (filter: Partial<TransactionFilter>, page = FIRST_PAGE) =>
    readTransactions(store.engine, { environment: "production", ...filter }, page);
  const list = async (filter: Partial<TransactionFilter>, page = FIRST_PAGE) => (await read(filter, page)).items;
  return { ...opened, opened, bank, transactions, read, list };
}

function sumOf(transactions: readonly Transaction[]) {
  const total = (some: readonly Transaction[]) => some.reduce((sum, { amount }) => sum + amount, 0n);
  const reversed = transactions.filter(({ status }) => status === "reversed");
  return {
    ...{ count: BigInt(transactions.length), amount: total(transactions) },
    ...{ reversed: BigInt(reversed.length), reversedAmount: total(reversed) },
  };
}

/** Applies the filter by plain comparison. */
function passes(transaction: Transaction, { from, until, cuids, ...others }: Partial<TransactionFilter>): boolean {
  const { at, cuid } = transaction;
  if (cuids?.includes(cuid) === false) return false;
  if ((from !== undefined && at < from) || (until !== undefined && at >= until)) return false;
  return Object.entries(others).every(([field, value]) => transaction[field as keyof Transaction] === value);
}

/** SQL that copies a top-up so often, without ledger entries. */
function manyCopies(txnId: string, checkoutId: string, count: number): string {
  const numbers = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`;
  const ids = `'${checkoutId.slice(0, 50)}' || i, '${txnId.slice(0, 12)}' || substr(CAST(1000000 + i AS TEXT), 2)`;
  return `INSERT INTO top_up ${numbers} SELECT ${ids}, partner_id, environment, cuid, service, req_id,
    bouquet_code, amount, commission, at, txn_date, status, NULL, NULL FROM n, top_up WHERE txn_id = '${txnId}'`;
}
