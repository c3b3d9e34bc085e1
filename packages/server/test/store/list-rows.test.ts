import type { RootOperationNode } from "kysely";
import { expect, test } from "vitest";
import { firstTransactionId } from "../../src/domain/transaction.ts";
import {
  addTransactions,
  MOST_LOOKED_AT,
  readTransactions,
  type TransactionFilter,
} from "../../src/office/transactions/lists.ts";
import { STEP_ROWS } from "../../src/store/top-up-ranges.ts";
import { type MakeDatabase, START } from "../store-suite/database.ts";
import { openProvider, RAM_NET, SITA_NET } from "../store-suite/provider.ts";
import { makePostgresDatabase } from "../support/postgres-database.ts";
import { makeSqliteDatabase, rawConnection } from "../support/sqlite-database.ts";
import { noting, plansOfSqlite, readsOfPostgres } from "../support/statements.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/* Lists of top-ups read what they show, whatever else is on record. */

const OTHERS = 30_000;
const LIMIT = 2;

const BY_TXN_ID = "top_up_by_txn_id (txn_id";
const BY_PARTNER = "top_up_by_partner (partner_id";
const BY_UDF1 = "top_up_by_udf1 (udf1=? AND partner_id";

/** Filters that an index serves, and the index in SQLite. */
const SERVED: readonly (readonly [Partial<TransactionFilter>, string])[] = [
  [{}, BY_TXN_ID],
  [{ partnerId: 2 }, BY_PARTNER],
  [{ environment: "trial" }, BY_PARTNER],
  [{ udf1: "rare" }, BY_UDF1],
  [{ udf1: "rare", partnerId: 2 }, BY_UDF1],
  [{ udf1: "all" }, BY_UDF1],
  [{ status: "reversed" }, BY_TXN_ID],
  [{ reqId: "sita" }, BY_TXN_ID],
  [{ cuids: [SITA_NET.cuid] }, BY_TXN_ID],
];

/** A few top-ups of two partners, older than many of the first one. */
async function openHistory(makeDatabase: MakeDatabase) {
  const opened = await openProvider(makeDatabase);
  const { database, store } = opened;
  const first = await opened.topUp(SITA_NET, "NET-1M");
  await opened.topUp(RAM_NET, "NET-1M");
  const second = `INSERT INTO partner SELECT 2, 'bank', status, created_at, NULL, NULL, NULL, NULL, NULL, NULL FROM partner`;
  await database.tamper(second);
  const copies = (count: number, partner: number, environment: string, udf1: string) =>
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
     INSERT INTO top_up SELECT '${partner}${environment}${udf1}' || i, '${firstTransactionId(START + partner)}' ||
       '${environment}${udf1}' || (1000000 + i), ${partner}, '${environment}', cuid, service, req_id, bouquet_code, amount,
       commission, at, txn_date, status, '${udf1}', NULL FROM n, top_up WHERE txn_id = '${first.txnId}'`;
  await database.tamper(copies(3, 2, "production", "rare"));
  await database.tamper(copies(3, 2, "trial", "rare"));
  await database.tamper(copies(3, 2, "production", "all"));
  await opened.reverse(first.txnId);
  await database.tamper(copies(OTHERS, 1, "production", "all"));
  await database.tamper("ANALYZE");
  const nodes: RootOperationNode[] = [];
  const engine = { ...store.engine, db: noting(store.engine.db, nodes) };
  const whole = (filter: Partial<TransactionFilter>) => ({ environment: "production", ...filter }) as const;
  const list = async (filter: Partial<TransactionFilter>, after?: string) => {
    nodes.length = 0;
    const { items } = await readTransactions(engine, whole(filter), { after, limit: LIMIT });
    return { items, statements: [...nodes] };
  };
  const sum = async (filter: Partial<TransactionFilter>, most: number) => {
    nodes.length = 0;
    await addTransactions(engine, whole(filter), undefined, most);
    return [...nodes];
  };
  return { ...opened, list, sum };
}

test("on PostgreSQL, a page reads at most ten times what it shows; with other conditions, ten times the largest page", async () => {
  const database = makePostgresDatabase();
  const { list, sum } = await openHistory(() => database);
  const expectReads = async (statements: readonly RootOperationNode[], most: number) => {
    for (const node of statements) {
      const { sql, reads } = await readsOfPostgres(database.url, node);
      const read = reads.filter(({ table }) => table === "top_up").reduce((all, each) => all + each.read, 0);
      expect(read, sql).toBeLessThanOrEqual(most);
    }
  };
  for (const [filter] of SERVED)
    for (const after of [undefined, "0"]) {
      const { items, statements } = await list(filter, after);
      expect(items.length, JSON.stringify(filter)).toBeGreaterThan(0);
      await expectReads(statements, 10 * items.length);
    }
  await expectReads((await list({ amount: 1n })).statements, MOST_LOOKED_AT);
  const sums = await sum({ amount: 1n }, STEP_ROWS);
  expect(sums).toHaveLength(2);
  await expectReads(sums, STEP_ROWS);
});

test("on SQLite, each statement of a page finds its top-ups by the index of its filter", async () => {
  const path = `${temporaryFolder()}/topupd.db`;
  const { list, sum } = await openHistory(() => makeSqliteDatabase(path));
  const connection = rawConnection(path);
  const expectIndex = (statements: readonly RootOperationNode[], index: string) => {
    for (const node of statements) {
      const { sql, details } = plansOfSqlite(connection, node);
      // The rows of an inner query with a limit are scanned.
      expect(
        details.filter((detail) => /^SCAN (?!t$)/.test(detail)),
        sql,
      ).toEqual([]);
      for (const detail of details) if (detail.includes("INDEX top_up")) expect(detail, sql).toContain(index);
    }
  };
  for (const [filter, index] of SERVED)
    for (const after of [undefined, "0"]) {
      const { items, statements } = await list(filter, after);
      expect(items.length, JSON.stringify(filter)).toBeGreaterThan(0);
      expectIndex(statements, index);
    }
  expectIndex((await list({ amount: 1n })).statements, BY_TXN_ID);
  expectIndex(await sum({ amount: 1n }, STEP_ROWS), BY_TXN_ID);
});
