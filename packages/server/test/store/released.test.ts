import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { BackupRefused, readHeader, writeBackup } from "../../src/backup/backup-file.ts";
import { restoreStore } from "../../src/office/maintenance/backups.ts";
import { readMigrations } from "../../src/store/migrations.ts";
import { gather, HEADER, inPieces } from "../backup/backups.ts";
import { countRows, findWrong, openStore, type TestDatabase } from "../store-suite/database.ts";
import { openFilledProvider } from "../store-suite/filled-provider.ts";
import { makePostgresDatabase, withClient } from "../support/postgres-database.ts";
import { makeSqliteDatabase, rawConnection } from "../support/sqlite-database.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/* Databases of released versions, which every later version opens. README.md of the tests says how to make a fixture. */

const FIXTURES = fileURLToPath(new URL("../fixtures/", import.meta.url));
const { version: VERSION } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));

interface Row {
  readonly table: string;
  readonly columns: readonly string[];
  readonly values: readonly unknown[];
}

/** The rows of a release's backup, and the checksums of its migrations by name. */
function readFixture(release: string) {
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

/** SQLite stores ledgers in another form than backups, so the fixture has a file of it. */
async function sqliteOf(_: Fixture, release: string): Promise<TestDatabase> {
  const path = join(temporaryFolder(), "topupd.db");
  writeFileSync(path, gunzipSync(readFileSync(join(FIXTURES, release, "topupd.db.gz"))));
  return makeSqliteDatabase(path);
}

/** Makes the tables by the release's own migrations, and fills them. */
async function postgresOf(fixture: Fixture): Promise<TestDatabase> {
  const database = makePostgresDatabase();
  await database.made;
  await withClient(database.url, async (client) => {
    for (const sql of migrationsOf(fixture)) await client.query(sql);
    await client.query("SET session_replication_role = replica");
    for (const { sql, values } of insertsOf(fixture)) await client.query(sql, [...values]);
  });
  return database;
}

test.runIf(process.env["RENEW_FIXTURE"] !== undefined)("the fixture of this version is written", async () => {
  const path = join(temporaryFolder(), "topupd.db");
  const { store } = await openFilledProvider(() => makeSqliteDatabase(path));
  const { zone, currencyExponent, defaultCountry } = store.provider;
  const header = { ...HEADER, topupd: VERSION, timeZone: zone.name, currencyExponent, defaultCountry };
  const write = (chunks: Parameters<typeof writeBackup>[1]) =>
    gather(writeBackup(header, chunks, new AbortController().signal));
  const backup = await store.exportArchive("go_on", write);
  const folder = join(FIXTURES, VERSION);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "provider.backup"), backup);
  const file = join(temporaryFolder(), "topupd.db");
  rawConnection(path).exec(`VACUUM INTO '${file}'`);
  writeFileSync(join(folder, "topupd.db.gz"), gzipSync(readFileSync(file), { level: 9 }));
  const checksums = readMigrations("sqlite").map(({ name, checksum }) => [name, checksum]);
  writeFileSync(join(folder, "migrations.json"), `${JSON.stringify(Object.fromEntries(checksums), null, 2)}\n`);
});

describe.each(readdirSync(FIXTURES))("a database of %s", (release) => {
  test("was made by migrations that have not changed", () => {
    const { checksums } = readFixture(release);
    const now = readMigrations("sqlite").filter(({ name }) => name in checksums);
    expect(Object.fromEntries(now.map(({ name, checksum }) => [name, checksum]))).toEqual(checksums);
  });

  test("has rows in every table", () => {
    const { rows, counts } = readFixture(release);
    expect(Object.values(counts).every((count) => count > 0)).toBe(true);
    expect(rows).toHaveLength(Object.values(counts).reduce((sum, count) => sum + count));
  });

  test.each([
    ["SQLite", sqliteOf],
    ["PostgreSQL", postgresOf],
  ])("is opened on %s with all its rows, and is in order", async (_, make) => {
    const fixture = readFixture(release);
    const database = await make(fixture, release);
    const opened = await openStore(() => database);
    expect(await findWrong(opened.store)).toEqual([]);
    for (const [table, count] of Object.entries(fixture.counts))
      expect(await countRows(opened, table), table).toBe(count);
  });

  test.each([
    ["SQLite", makeSqliteDatabase],
    ["PostgreSQL", makePostgresDatabase],
  ])("is restored from its backup on %s, or the version to do it with is named", async (_, make) => {
    const { bytes, counts } = readFixture(release);
    const header = await readHeader(inPieces(bytes), VERSION).catch((error: unknown) => error);
    if (header instanceof BackupRefused) {
      expect(header.message).toContain(`restore it with topupd ${release}`);
      return;
    }
    const opened = await openStore(make);
    await restoreStore(inPieces(bytes), { store: opened.store, clock: () => opened.now }, { name: "maya" });
    expect(await findWrong(opened.store)).toEqual([]);
    expect(await countRows(opened, "top_up")).toBe(counts["top_up"]);
  });
});
