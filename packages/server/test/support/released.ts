import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { readMigrations } from "../../src/store/migrations.ts";
import { makePostgresDatabase, type TestPostgres, withClient } from "./postgres-database.ts";

/* Databases of released versions. README.md of the tests says how a fixture is made. */

/** A folder for each release. */
export const FIXTURES = fileURLToPath(new URL("../fixtures/", import.meta.url));

interface Row {
  readonly table: string;
  readonly columns: readonly string[];
  readonly values: readonly unknown[];
}

/** The rows of a release's backup, and the checksums of its migrations by name. */
export function readFixture(release: string) {
  const bytes = readFileSync(join(FIXTURES, release, "provider.backup"));
  const [header, ...lines] = gunzipSync(bytes)
    .toString()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const rows: Row[] = lines.flatMap(({ table, rows: of = [] }) =>
    of.map((row: readonly unknown[]) => ({ table, columns: header.tables[table], values: row.map(readValue) })),
  );
  const { rows: counts } = lines.find(({ totals }) => totals !== undefined).totals;
  const checksums: Record<string, string> = JSON.parse(
    readFileSync(join(FIXTURES, release, "migrations.json"), "utf8"),
  );
  return { bytes, rows, checksums, counts: counts as Record<string, number> };
}

function readValue(value: unknown): unknown {
  return value !== null && typeof value === "object" ? Buffer.from((value as { hex: string }).hex, "hex") : value;
}

type Fixture = ReturnType<typeof readFixture>;

/** The SQL of the migrations that a release had. */
function migrationsOf({ checksums }: Fixture): string[] {
  const migrations = readMigrations("postgres").filter(({ name }) => name in checksums);
  return migrations.map(({ sql }) => sql);
}

const RECORD: Omit<Row, "values"> = {
  table: "schema_migration",
  columns: ["number", "name", "checksum", "applied_at"],
};

/** The rows with those of the migrations, each with its statement. */
function insertsOf({ checksums, rows }: Fixture) {
  const records = Object.entries(checksums).map(([name, sum], at) => ({ ...RECORD, values: [at + 1, name, sum, 0] }));
  return [...records, ...rows].map(({ table, columns, values }) => {
    const parameters = columns.map((_, at) => `$${at + 1}`);
    return { sql: `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${parameters.join(", ")})`, values };
  });
}

/** Writes the file of a release. SQLite stores ledgers in another form than backups, so the fixture has a file of it. */
export function writeSqliteFixture(release: string, path: string): void {
  writeFileSync(path, gunzipSync(readFileSync(join(FIXTURES, release, "topupd.db.gz"))));
}

/** Makes the tables by the release's own migrations, and fills them. */
export async function postgresOf(fixture: Fixture): Promise<TestPostgres> {
  const database = makePostgresDatabase("template0");
  await database.made;
  await withClient(database.url, async (client) => {
    for (const sql of migrationsOf(fixture)) await client.query(sql);
    await client.query("SET session_replication_role = replica");
    for (const { sql, values } of insertsOf(fixture)) await client.query(sql, [...values]);
  });
  return database;
}
