import pg from "pg";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { openPostgresStore } from "../../src/store/postgres/open.ts";
import { openProvider, RAM_NET, SITA_NET, SITA_TV } from "../store-suite/provider.ts";
import { withClient } from "../support/postgres-database.ts";
import { prepareTopUp, startTestService } from "../support/service.ts";
import { growingTables, makeShardedDatabase } from "../support/sharded-database.ts";

interface Asked {
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
}

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Actual Loops"?: number;
  readonly Plans?: readonly PlanNode[];
}

/** Everything that a partner's four calls come to, in the order of the interface's typical flow, and a replay. */
async function recordHotStatements(url: string): Promise<Asked[]> {
  const service = await startTestService({
    openStore: (options) => openPostgresStore({ ...options, url, connections: 2 }),
  });
  const asked: Asked[] = [];
  const query = vi.spyOn(pg.Client.prototype, "query");
  const connection = { cuid: "1000002", service: "internet", reqId: "trial2" };
  await service.call("get-customer-information", { code: "1000002" });
  const purchase = await prepareTopUp(service, connection);
  expect((await service.call("subscription-package-topup", purchase)).status).toBe(200);
  expect((await service.call("subscription-package-topup", purchase)).headers["idempotent-replayed"]).toBe("true");
  expect((await service.call("txn-status", { checkoutId: purchase["checkoutId"] })).status).toBe(200);
  const unused = await prepareTopUp(service, connection);
  service.now += 3_600_000;
  expect((await service.call("txn-status", { checkoutId: unused["checkoutId"] })).json.code).toBe("400ab108");
  for (const [config] of query.mock.calls as unknown as [Asked | string][]) {
    if (typeof config === "object" && "name" in config) asked.push(config);
  }
  query.mockRestore();
  await service.close();
  return asked.filter(({ text }) => growingTables().some((table) => new RegExp(`\\b${table}\\b`).test(text)));
}

/** The partitions that a statement came to, as PostgreSQL tells after it was run. What it writes is undone. */
async function shardsOf(client: pg.Client, { text, values }: Asked): Promise<Set<string>> {
  await client.query("BEGIN; SET LOCAL session_replication_role = replica");
  try {
    // As if it had not been recorded yet.
    await client.query("DELETE FROM top_up; DELETE FROM retired_checkout");
    const { rows } = await client.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values);
    const [{ Plan }] = rows[0]["QUERY PLAN"] as [{ Plan: PlanNode }];
    return new Set(touched(Plan));
  } finally {
    await client.query("ROLLBACK");
  }
}

function touched(node: PlanNode): string[] {
  const name = node["Relation Name"];
  const own = name !== undefined && /_shard\d$/.test(name) && (node["Actual Loops"] ?? 0) > 0 ? [name] : [];
  return [...own, ...(node.Plans ?? []).flatMap(touched)];
}

const shardOf = (partition: string) => partition.replace(/^.*_shard/, "");

describe("a database that is split by customer", () => {
  test("is asked for one customer in one place: every hot statement touches exactly one shard", async () => {
    const url = await makeShardedDatabase();
    const asked = await recordHotStatements(url);
    const names = new Set(asked.map(({ name }) => name));
    expect(names).toEqual(
      new Set([
        ...["cuids", "overview", "connection", "customers_lock", "connections", "checkouts", "outcome"],
        ...["top_up_insert", "grants_append", "subscription_insert", "topped_up", "retired_checkout_insert"],
      ]),
    );
    const shards = new Set<string>();
    await withClient(url, async (client) => {
      for (const statement of asked) {
        const partitions = [...(await shardsOf(client, statement))];
        const writes = /^INSERT/.test(statement.text);
        const numbers = new Set(partitions.map(shardOf));
        // An insert names its partition only where it looks something up in it first.
        if (!writes || numbers.size > 0) expect([statement.name, numbers.size]).toEqual([statement.name, 1]);
        if (statement.name !== "cuids") for (const number of numbers) shards.add(number);
      }
    });
    expect(shards.size).toBe(1);
  });

  test("keeps all rows of a customer in one shard, and its customers in many", async () => {
    const url = await makeShardedDatabase();
    const service = await startTestService({
      openStore: (options) => openPostgresStore({ ...options, url, connections: 2 }),
    });
    for (const reqId of ["trial1", "trial2"]) {
      const cuid = reqId === "trial1" ? "1000001" : "1000002";
      const purchase = await prepareTopUp(service, { cuid, service: "internet", reqId });
      expect((await service.call("subscription-package-topup", purchase)).status).toBe(200);
    }
    await withClient(url, async (client) => {
      const perCustomer = growingTables()
        .filter((table) => !["customer_code", "retired_checkout", "reversal"].includes(table))
        .map(
          (table) => `SELECT cuid, regexp_replace(tableoid::regclass::text, '^.*_shard', '') AS shard FROM ${table}`,
        );
      const { rows } = await client.query(
        `SELECT cuid, count(DISTINCT shard) AS shards FROM (${perCustomer.join(" UNION ALL ")}) AS rows GROUP BY cuid`,
      );
      expect(rows.length).toBe(5);
      expect(rows.map(({ shards }) => Number(shards))).toEqual([1, 1, 1, 1, 1]);
      const spread = await client.query("SELECT count(DISTINCT tableoid) AS shards FROM customer");
      expect(Number(spread.rows[0].shards)).toBeGreaterThan(1);
    });
  });

  test("settles a batch of several customers, and races on one of them, as a whole one does", async () => {
    const url = await makeShardedDatabase();
    const opened = await openProvider(() => ({
      open: (options) =>
        openPostgresStore({ timeZone: undefined, currencyExponent: undefined, ...options, url, connections: 2 }),
      read: (query) => withClient(url, async (client) => (await client.query(query)).rows),
      tamper: async () => {},
    }));
    const other = await opened.another();
    const commands = [SITA_NET, SITA_TV, RAM_NET, SITA_NET].map((key) =>
      opened.command(key, key === SITA_TV ? "TV-1M" : "NET-1M"),
    );
    const outcomes = await Promise.all(
      commands.flatMap((command) => [opened.store.settleTopUp(command), other.settleTopUp(command)]),
    );
    const recorded = outcomes.filter(({ kind }) => kind === "recorded");
    const replayed = outcomes.filter(({ kind }) => kind === "replayed");
    expect([recorded.length, replayed.length]).toEqual([4, 4]);
    const [count] = await opened.database.read("SELECT count(*) AS count FROM top_up");
    expect(Number(count?.["count"])).toBe(4);
    onTestFinished(() => other.close());
  });

  test("leads the key of every table that grows with what it is distributed by", async () => {
    const url = await makeShardedDatabase();
    await withClient(url, async (client) => {
      const { rows } = await client.query<{ table: string; first: string }>(
        `SELECT c.relname AS table, pg_get_indexdef(i.indexrelid, 1, true) AS first
         FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indrelid
         WHERE c.relnamespace = current_schema()::regnamespace AND i.indisprimary AND c.relkind = 'p'`,
      );
      expect(rows.map(({ table }) => table).sort((a, b) => a.localeCompare(b))).toEqual(
        growingTables().sort((a, b) => a.localeCompare(b)),
      );
      for (const { table, first } of rows) expect(first).toBe(table === "customer_code" ? "code" : "customer_digest");
    });
  });
});
