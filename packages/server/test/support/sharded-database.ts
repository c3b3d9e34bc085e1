import { readMigrations } from "../../src/store/common/migrations.ts";
import { makeEmptyDatabase, withClient } from "./postgres-database.ts";

const MIGRATIONS = new URL("../../src/store/postgres/migrations/", import.meta.url);

export const SHARDS = 8;

/** What each table that grows is distributed by. */
const SHARD_KEY = { customer_code: "code" } as const;

/**
 * A database with the tables of topupd, each table that grows split by customer into hash partitions, as a
 * database that is spread over several machines has them. @returns its URL.
 */
export async function makeShardedDatabase(): Promise<string> {
  const { url, made } = makeEmptyDatabase();
  await made;
  const migrations = readMigrations(MIGRATIONS);
  await withClient(url, async (client) => {
    for (const { sql } of migrations) await client.query(partitioned(sql));
    await client.query(
      "CREATE TABLE schema_migration (number integer PRIMARY KEY, name text, checksum text, applied_at bigint)",
    );
    for (const { number, name, checksum } of migrations) {
      await client.query("INSERT INTO schema_migration VALUES ($1, $2, $3, 0)", [number, name, checksum]);
    }
  });
  return url;
}

/** The tables that a customer makes grow. */
export function growingTables(): string[] {
  const sql = readMigrations(MIGRATIONS).map((migration) => migration.sql);
  return sql.flatMap((text) =>
    [...text.matchAll(CREATE_TABLE)].flatMap(([, name, body]) => (shardKey(name, body) ? [name as string] : [])),
  );
}

const CREATE_TABLE = /CREATE TABLE (\w+) \(\n([\s\S]*?)\n\);/g;

function partitioned(sql: string): string {
  return sql.replace(CREATE_TABLE, (whole, name: string, body: string) => {
    const key = shardKey(name, body);
    if (key === undefined) return whole;
    const shards = Array.from(
      { length: SHARDS },
      (_, shard) =>
        `CREATE TABLE ${name}_shard${shard} PARTITION OF ${name} FOR VALUES WITH (MODULUS ${SHARDS}, REMAINDER ${shard});`,
    );
    return [`CREATE TABLE ${name} (\n${body}\n) PARTITION BY HASH (${key});`, ...shards].join("\n");
  });
}

function shardKey(name = "", body = ""): string | undefined {
  if (name in SHARD_KEY) return SHARD_KEY[name as keyof typeof SHARD_KEY];
  return /^\s*customer_digest /.test(body) ? "customer_digest" : undefined;
}
