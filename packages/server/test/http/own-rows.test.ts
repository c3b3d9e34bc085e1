import type { RootOperationNode } from "kysely";
import { expect, test } from "vitest";
import { firstTransactionId } from "../../src/domain/transaction.ts";
import type { Store } from "../../src/store/store.ts";
import { makePostgresDatabase } from "../support/postgres-database.ts";
import { ask, fill, type ReportName } from "../support/reports.ts";
import { START, startTestService, type TestService } from "../support/service.ts";
import { makeSqliteDatabase, rawConnection } from "../support/sqlite-database.ts";
import { noting, plansOfSqlite, readsOfPostgres } from "../support/statements.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/* The reports of a partner read rows of this partner only, whatever others sold. */

const OTHERS = { topUps: 100_000, reversals: 10_000, sums: 2_000, entries: 2_000 };
/** The most rows of a table that a statement may read. */
type Most = Readonly<Record<string, number>>;
const DAYS = "from=2025-11-21&to=2026-11-20";
const REPORTS: readonly (readonly [ReportName, string])[] = [
  ["partner/account", ""],
  ["partner/account/entries", `?${DAYS}`],
  ["partner/account/entries", ""],
  ["partner/top-ups", `?${DAYS}`],
  ["partner/top-ups", ""],
  ["partner/top-ups", "?udf1=INV-1"],
  ["partner/webhook", ""],
];

/** Rows of others at the time of the partner's own. Both engines know this SQL. */
function sold(partnerId: number): string[] {
  const times = (count: number) => `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`;
  const [txnId, wall] = [`'${firstTransactionId(START)}X' || (1000000 + i)`, "'2026-11-20 09:00:00'"];
  const account = `${partnerId}, 'trial'`;
  return [
    `${times(OTHERS.topUps)} INSERT INTO top_up SELECT 'other-' || i, ${txnId}, ${account}, '1000001', 'internet', 'trial1',
      'TRIAL-NET-1M', 113000, 1000, ${START}, ${wall}, CASE WHEN i > ${OTHERS.reversals} THEN 'success' ELSE 'reversed' END,
      'INV-1', NULL FROM n`,
    `${times(OTHERS.reversals)} INSERT INTO reversal SELECT ${txnId}, ${account}, ${START}, ${wall}, 'x', 'x' FROM n`,
    `${times(OTHERS.sums)} INSERT INTO sales_day SELECT ${account}, '2026-11-20', 'tv', 'B' || i, 1, '2026-11-20', 0, 50,
      0, 0, 0 FROM n`,
    `${times(OTHERS.entries)} INSERT INTO account_entry SELECT ${account}, 'R' || i, 'deposit', 1, 'x', 'x', ${START}, ${wall}
      FROM n`,
  ];
}

/** Notes the statements of the reports. */
function noted(store: Store, nodes: RootOperationNode[]): Store {
  const engine = { ...store.engine, db: noting(store.engine.db, nodes) };
  return new Proxy(store, { get: (target, name) => (name === "engine" ? engine : Reflect.get(target, name)) });
}

/** Rows of the partner: three top-ups of other days, one of which is reversed, and a deposit. */
async function ownRows(service: TestService): Promise<string> {
  const rare = await service.addPartner("rare");
  const { engine, provider } = service.store;
  const key = { partnerId: rare.id, environment: "trial" } as const;
  const [first = ""] = [
    ...(await fill(service, rare.id, START - 300 * 86_400_000, 1)),
    ...(await fill(service, rare.id, START, 2)),
  ];
  const made = { at: START, wall: provider.zone.wallTime(START), author: "x", reason: "x" };
  await engine.transact(async (tx) => {
    await tx.updateTable("topUp").set({ status: "reversed" }).where("txnId", "=", first).execute();
    await tx
      .insertInto("reversal")
      .values({ ...key, ...made, txnId: first })
      .execute();
    await tx
      .insertInto("accountEntry")
      .values({ ...key, ...made, reference: "R1", kind: "deposit", amount: 5 })
      .execute();
  });
  return service.issue(rare, "trial");
}

/** Asks for each report, and gives the statements that it took. */
async function statementsOf(service: TestService, token: string, nodes: RootOperationNode[]) {
  const found: { report: string; node: RootOperationNode }[] = [];
  for (const [name, query] of REPORTS) {
    nodes.length = 0;
    const { status, json } = await ask(service, name, query, token);
    expect(status).toBe(200);
    if (query.includes("from="))
      expect(json.body.items.length).toBeGreaterThanOrEqual(name === "partner/top-ups" ? 3 : 5);
    found.push(...nodes.map((node) => ({ report: name + query, node })));
  }
  return found;
}

test("on PostgreSQL, no statement of a report reads more rows of a table than the partner has there", async () => {
  const database = makePostgresDatabase();
  const nodes: RootOperationNode[] = [];
  const wrapStore = (store: Store) => noted(store, nodes);
  const service = await startTestService({ openStore: database.open, wrapStore });
  const busy = await service.addPartner("busy");
  const token = await ownRows(service);
  const rare: Most = { account: 0, account_entry: 1, reversal: 1, sales_day: 3, top_up: 3 };
  const expectOwn = async (own: Most, tables = Object.keys(own), of = token) => {
    const statements = await statementsOf(service, of, nodes);
    for (const { report, node } of statements) {
      const { sql, reads } = await readsOfPostgres(database.url, node);
      for (const { table, read } of reads)
        if (tables.includes(table)) expect(read, `${report}: ${sql}`).toBeLessThanOrEqual(own[table] as number);
    }
  };
  // The statistics say that all rows are of the partner.
  await database.tamper("ANALYZE");
  for (const sql of sold(busy.id)) await database.tamper(sql);
  await expectOwn(rare, ["reversal", "top_up"]);
  await database.tamper("ANALYZE");
  await expectOwn(rare);
  // Almost all rows are of this partner, which reads a row more than a page has.
  await expectOwn({ reversal: 201, top_up: 201 }, undefined, await service.issue(busy, "trial"));
});

test("on SQLite, each statement of a report finds its rows by partner and environment", async () => {
  const path = `${temporaryFolder()}/topupd.db`;
  const nodes: RootOperationNode[] = [];
  const service = await startTestService({ path, wrapStore: (store) => noted(store, nodes) });
  const { id } = await service.addPartner("busy");
  for (const sql of sold(id)) await makeSqliteDatabase(path).tamper(sql);
  const connection = rawConnection(path);
  const token = await ownRows(service);
  for (const { report, node } of await statementsOf(service, token, nodes)) {
    const { sql, details } = plansOfSqlite(connection, node);
    for (const detail of details)
      if (/^(SCAN|SEARCH) /.test(detail) && !detail.includes("retention"))
        expect(detail, `${report}: ${sql}`).toMatch(
          /^SEARCH .*\((partner_id=\? AND environment=\?|udf1=\? AND |txn_id=\?|target_id=\?)/,
        );
  }
});
