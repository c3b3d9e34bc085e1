import { describe, expect, test } from "vitest";
import type { Partner } from "../../src/domain/access-token.ts";
import { createCalendar } from "../../src/domain/calendar.ts";
import type { ConnectionKey } from "../../src/domain/customer.ts";
import { type Day, readDay } from "../../src/domain/day-range.ts";
import { foldGrants } from "../../src/domain/fold.ts";
import type { TopUpCommand, Transaction } from "../../src/domain/top-up.ts";
import { formatTransactionId, TXN_ID_SLACK_MS } from "../../src/domain/transaction-id.ts";
import { STEP_ROWS } from "../../src/store/common/transaction-search.ts";
import type { TransactionFilter, TransactionPage } from "../../src/store/search.ts";
import { by } from "../support/by.ts";
import { customersOf } from "../support/customers-of.ts";
import { seededRandom } from "../support/random.ts";
import type { MakeDatabase } from "./database.ts";
import {
  expectRecorded,
  type OpenedProvider,
  openProvider,
  RAM_NET,
  RAM_TV,
  restate,
  SITA,
  SITA_IPTV,
  SITA_NET,
  SITA_TV,
} from "./provider.ts";

const HOUR = 3_600_000;
const FIRST_PAGE: TransactionPage = { before: undefined, limit: 100 };

export function testSearches(makeDatabase: MakeDatabase): void {
  describe("a list of transactions", () => testLists(makeDatabase));
  describe("the pages of a list", () => testPages(makeDatabase));
  describe("the ledgers of a connection", () => testLedgers(makeDatabase));
  describe("a customer", () => testFoundCustomers(makeDatabase));
}

/** Six top-ups of two partners, an hour apart; the last was reversed. Oldest first. */
async function openHistory(makeDatabase: MakeDatabase) {
  const opened = await openProvider(makeDatabase);
  const { store, database } = opened;
  const bank = (await store.addPartner("bank", by(opened.now))) as Partner;
  const topUp = topUpsOf(opened);
  const transactions = [
    await topUp(SITA_NET, "NET-1M", { udf1: "order-1", udf2: "till-1" }),
    await topUp(SITA_TV, "TV-1M", { udf1: "order-2" }),
    await topUp(RAM_NET, "NET-1M", { udf2: "till-1" }),
    await topUp(RAM_TV, "TV-3M", {}),
    await topUp(SITA_NET, "NET-1M", { udf1: "order-1" }, bank.id),
    await topUp(SITA_IPTV, "ITV-1M", {}, bank.id),
  ];
  const last = transactions.at(-1) as Transaction;
  await database.tamper(`UPDATE top_up SET status = 'reversed' WHERE checkout_id = '${last.checkoutId}'`);
  transactions[5] = { ...last, status: "reversed" };
  const list = (filter: Partial<TransactionFilter>, page = FIRST_PAGE) =>
    store.search.listTransactions({ environment: "production", ...filter }, page);
  return { ...opened, opened, bank, topUp, transactions, list };
}

/** Each an hour after the one before, with the txnId that its time gives it. */
function topUpsOf(opened: OpenedProvider) {
  const random = seededRandom(3);
  return async (
    connection: ConnectionKey,
    bouquet: string,
    more: Partial<TopUpCommand> = {},
    partnerId = opened.partner.id,
  ): Promise<Transaction> => {
    opened.now += HOUR;
    const txnId = formatTransactionId(opened.now, random(10));
    const quote = opened.quote(connection, { partnerId });
    const command = opened.command(connection, bouquet, { ...quote, partnerId, txnId, ...more });
    return expectRecorded(await opened.store.settleTopUp(command));
  };
}

function testLists(makeDatabase: MakeDatabase): void {
  test("shows all that is recorded, newest first, with every field", async () => {
    const { list, transactions } = await openHistory(makeDatabase);
    expect(await list({})).toEqual(transactions.toReversed());
  });

  test("shows nothing where nothing is recorded, or of another environment", async () => {
    const { store } = await openProvider(makeDatabase);
    expect(await store.search.listTransactions({ environment: "production" }, FIRST_PAGE)).toEqual([]);
    const { list } = await openHistory(makeDatabase);
    expect(await list({ environment: "trial" })).toEqual([]);
    expect(await list({ environment: "trial", cuid: SITA.cuid })).toEqual([]);
  });

  test("shows what every filter lets through, alone and with others, with a customer and without", async () => {
    const { list, transactions, bank, partner } = await openHistory(makeDatabase);
    const [second, fifth] = [transactions[1], transactions[4]] as [Transaction, Transaction];
    const choices: Partial<TransactionFilter>[] = [
      ...[{ partnerId: bank.id }, { partnerId: partner.id }, { partnerId: 99 }],
      ...([{ service: "tv" }, { service: "internet" }, { service: "iptv" }] as const),
      ...[{ cuid: SITA.cuid }, { cuid: "2000002" }, { cuid: "nobody" }],
      ...[{ reqId: "sita" }, { reqId: "ram" }, { reqId: "SITA" }],
      ...[{ amount: 113_000n }, { amount: 30_000n }, { amount: 1n }],
      ...([{ status: "success" }, { status: "reversed" }] as const),
      ...[{ udf1: "order-1" }, { udf1: "order-3" }, { udf2: "till-1" }],
      ...[{ from: second.at }, { until: fifth.at }, { from: second.at, until: fifth.at }, { from: second.at + 1 }],
    ];
    let shown = 0;
    for (const one of choices) {
      for (const other of choices) {
        const filter: Partial<TransactionFilter> = { ...one, ...other };
        const expected = transactions.filter((transaction) => passes(transaction, filter)).toReversed();
        expect(await list(filter), JSON.stringify(filter, asText)).toEqual(expected);
        shown += expected.length;
      }
    }
    expect(shown).toBeGreaterThan(100);
  });

  test("goes by the time of the record, however far the txnId's is from it", async () => {
    const { opened, list } = await openHistory(makeDatabase);
    const { store } = opened;
    const command = opened.command(SITA_TV, "TV-1M", { txnId: formatTransactionId(opened.now, new Uint8Array(10)) });
    // Decided at the last moment at which the checkout, and so the request, may still be waiting.
    opened.now += 300_000;
    const transaction = expectRecorded(await store.settleTopUp(command));
    const { at } = transaction;
    expect(await list({ from: at })).toEqual([transaction]);
    expect(await list({ from: at, until: at + 1 })).toEqual([transaction]);
    expect(await list({ from: at + 1 })).toEqual([]);
    expect((await list({ until: at })).map(({ checkoutId }) => checkoutId)).not.toContain(transaction.checkoutId);
    expect(TXN_ID_SLACK_MS).toBeGreaterThan(300_000);
  });

  test("shows what was recorded by a clock that is as far behind the request's as one may be", async () => {
    const { opened, list } = await openHistory(makeDatabase);
    const command = opened.command(SITA_TV, "TV-1M", { txnId: formatTransactionId(opened.now, new Uint8Array(10)) });
    opened.now -= TXN_ID_SLACK_MS;
    const transaction = expectRecorded(await opened.store.settleTopUp(command));
    const { at } = transaction;
    expect(await list({ from: at, until: at + 1 })).toEqual([transaction]);
    expect(await list({ until: at })).not.toContainEqual(transaction);
  });

  test.each([
    ["2027-03-28", 23],
    ["2027-10-31", 25],
  ])("of %s in Berlin, which has %i hours, is of exactly these", async (text, hours) => {
    const opened = await openProvider(makeDatabase);
    const topUp = topUpsOf(opened);
    const day = readDay(text, createCalendar("Europe/Berlin")) as Day;
    const at = (instant: number) => {
      opened.now = instant - HOUR;
      return topUp(SITA_NET, "NET-1M");
    };
    await at(day.start - 1);
    const expected: Transaction[] = [];
    for (let hour = 0; hour < hours; hour += 1) expected.push(await at(day.start + hour * HOUR));
    expected.push(await at(day.end - 1));
    await at(day.end);
    const filter = { environment: "production", from: day.start, until: day.end } as const;
    expect(await opened.store.search.listTransactions(filter, FIRST_PAGE)).toEqual(expected.reverse());
  });

  test("finds a transaction by its txnId alone, compared exactly", async () => {
    const { store, transactions } = await openHistory(makeDatabase);
    for (const transaction of transactions) {
      expect(await store.search.findByTxnId(transaction.txnId)).toEqual(transaction);
      expect(await store.search.findByTxnId(transaction.txnId.toLowerCase())).toBeUndefined();
    }
    expect(await store.search.findByTxnId("01M7W2Y7M0D61P39294S26KB1Y")).toBeUndefined();
  });
}

/** The filter by plain comparison. */
function passes(transaction: Transaction, { from, until, ...others }: Partial<TransactionFilter>): boolean {
  const { at } = transaction;
  if ((from !== undefined && at < from) || (until !== undefined && at >= until)) return false;
  return Object.entries(others).every(([field, value]) => transaction[field as keyof Transaction] === value);
}

const asText = (_: string, value: unknown) => (typeof value === "bigint" ? String(value) : value);

function testPages(makeDatabase: MakeDatabase): void {
  test("join without a gap or a repetition, though top-ups come in between", async () => {
    const { list, transactions, topUp } = await openHistory(makeDatabase);
    for (const filter of [{}, { cuid: SITA.cuid }, { from: 0 }]) {
      const expected = (await list(filter)).map(({ txnId }) => txnId);
      const seen: string[] = [];
      for (let before: string | undefined; ; ) {
        const page = await list(filter, { before, limit: 2 });
        if (page.length === 0) break;
        seen.push(...page.map(({ txnId }) => txnId));
        before = page.at(-1)?.txnId;
        await topUp(SITA_NET, "NET-1M");
      }
      expect(seen).toEqual(expected);
    }
    expect((await list({})).length).toBeGreaterThan(transactions.length);
  });

  test("are filled from far apart, over as many steps as it takes", async () => {
    const { database, list, transactions } = await openHistory(makeDatabase);
    // So many others between the first and the second that no single step can see both.
    const [first, second] = transactions as [Transaction, Transaction];
    await insertMany(database, first, STEP_ROWS * 2 + 1);
    expect(await list({ udf1: first.udf1, until: second.at })).toEqual([first]);
    expect((await list({ reqId: "sita", partnerId: first.partnerId })).at(-1)).toEqual(first);
    expect(await list({ udf1: "nothing has it" })).toEqual([]);
    expect(await list({ udf1: "another" }, { before: undefined, limit: 7 })).toHaveLength(7);
  });
}

/** Copies of a transaction at its own time, each with ids of its own that come after it. */
async function insertMany(
  database: { readonly tamper: (sql: string) => Promise<unknown> },
  { checkoutId, txnId }: Transaction,
  count: number,
): Promise<void> {
  const columns = "partner_id, environment, cuid, service, bouquet_code, amount, at, status, udf2";
  const isDigested = await database.tamper(`SELECT customer_digest FROM top_up LIMIT 1`).then(
    () => true,
    () => false,
  );
  const digest = isDigested ? "customer_digest, " : "";
  const id = isDigested ? "lpad(n::text, 8, '0')" : "printf('%08d', n)";
  const prefix = txnId.slice(0, 10);
  await database.tamper(
    `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
     INSERT INTO top_up (${digest}checkout_id, txn_id, req_id, udf1, ${columns})
     SELECT ${digest}'copy-' || ${id}, '${prefix}ZZZZZZZZ' || ${id}, 'another', 'another', ${columns}
     FROM numbers, top_up WHERE checkout_id = '${checkoutId}'`,
  );
}

function testLedgers(makeDatabase: MakeDatabase): void {
  test("hold every grant in its order, each with its top-up, and fold to what is stored", async () => {
    const { store, transactions } = await openHistory(makeDatabase);
    const ledgers = await store.search.findLedgers(SITA_NET);
    expect(ledgers.map(({ plan, entries }) => [plan, entries.map(({ grant }) => grant.kind)])).toEqual([
      ["Fiber 100 Mbps", ["statement", "top_up", "top_up"]],
    ]);
    expect(ledgers[0]?.entries.map(({ transaction }) => transaction)).toEqual([
      undefined,
      transactions[0],
      transactions[4],
    ]);
    const found = await store.findConnection(SITA_NET);
    const folded = ledgers.map(({ plan, entries }) =>
      foldGrants(
        plan,
        entries.map(({ grant }) => grant),
        store.provider.calendar,
      ),
    );
    expect(folded).toEqual(found?.connection?.subscriptions);
  });

  test("are still there when the connection is gone", async () => {
    const opened = await openProvider(makeDatabase);
    const { internet } = SITA.connections;
    await restate(opened.store, opened.now + 1, { ...SITA, connections: { internet } });
    expect((await opened.store.findConnection(SITA_TV))?.connection).toBeUndefined();
    const [ledger] = await opened.store.search.findLedgers(SITA_TV);
    expect(ledger?.entries.map(({ grant }) => grant.kind)).toEqual(["statement", "withdrawal"]);
  });

  test("are none of a connection that never was", async () => {
    const { store } = await openProvider(makeDatabase);
    expect(await store.search.findLedgers({ ...SITA_TV, reqId: "nobody's" })).toEqual([]);
    expect(await store.search.findLedgers({ ...SITA_TV, environment: "trial" })).toEqual([]);
  });
}

function testFoundCustomers(makeDatabase: MakeDatabase): void {
  test("is found by the cuid alone, and with it by every code", async () => {
    const { store } = await openProvider(makeDatabase);
    const [sita] = await customersOf(store, "production", SITA.cuid);
    expect(await store.search.findCustomer("production", SITA.cuid)).toEqual(sita);
    for (const code of [SITA.cuid, SITA.mobile, "sita", "sita-iptv"])
      expect(await store.search.findCuids("production", code, 20)).toEqual([SITA.cuid]);
    expect(await store.search.findCustomer("production", SITA.mobile)).toBeUndefined();
    expect(await store.search.findCustomer("trial", SITA.cuid)).toBeUndefined();
    expect(await store.search.findCuids("trial", SITA.cuid, 20)).toEqual([]);
  });

  test("is one of all whom a code fits, in the order of their ids", async () => {
    const { store, now } = await openProvider(makeDatabase);
    const family = ["3000003", "3000001", "3000002"].map((cuid) => ({ ...SITA, cuid, connections: {} }));
    await restate(store, now, ...family);
    const expected = [SITA.cuid, "3000001", "3000002", "3000003"];
    expect(await store.search.findCuids("production", SITA.mobile, 20)).toEqual(expected);
  });
}
