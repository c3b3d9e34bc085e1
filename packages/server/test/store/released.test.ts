import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { BackupRefused, readHeader, writeBackup } from "../../src/backup/backup-file.ts";
import { restoreStore } from "../../src/office/maintenance/backups.ts";
import { readMigrations } from "../../src/store/migrations.ts";
import { gather, HEADER, inPieces } from "../backup/backups.ts";
import { countRows, findWrong, openStore, type TestDatabase } from "../store-suite/database.ts";
import { openFilledProvider } from "../store-suite/filled-provider.ts";
import { makePostgresDatabase } from "../support/postgres-database.ts";
import { FIXTURES, postgresOf, readFixture, writeSqliteFixture } from "../support/released.ts";
import { makeSqliteDatabase, rawConnection } from "../support/sqlite-database.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/* Every later version opens the databases of released versions. */

const { version: VERSION } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));

async function sqliteOf(release: string): Promise<TestDatabase> {
  const path = join(temporaryFolder(), "topupd.db");
  writeSqliteFixture(release, path);
  return makeSqliteDatabase(path);
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
    ["PostgreSQL", async (of: string) => postgresOf(readFixture(of))],
  ])("is opened on %s with all its rows, and is in order", async (_, make) => {
    const fixture = readFixture(release);
    const database = await make(release);
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
