import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { DatabaseSync } from "@photostructure/sqlite";
import type { Instant } from "../../domain/calendar.ts";
import { StoreRefused } from "../errors.ts";
import type { Database } from "./database.ts";

const JOURNAL = `CREATE TABLE schema_migration (
  number     INTEGER PRIMARY KEY,
  name       TEXT    NOT NULL,
  checksum   TEXT    NOT NULL,
  applied_at INTEGER NOT NULL
) STRICT`;

interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

/**
 * Brings the schema up to date in one transaction. Safe to run from several processes at once.
 * @throws StoreRefused where the file was migrated by a newer topupd, or lacks what may not be applied.
 */
export function migrate(database: Database, now: Instant, { mayApply }: { readonly mayApply: boolean }): void {
  // A migration may have to make a table anew to which others refer; it is verified at its end.
  database.exec("PRAGMA foreign_keys = OFF");
  database.writeAtOpening(() => {
    const applied = readApplied(database);
    const migrations = readMigrations();
    for (const [index, migration] of migrations.entries()) {
      const former = applied[index];
      if (former === undefined) apply(database, migration, now, mayApply);
      else if (former !== migration.checksum) {
        throw new StoreRefused(`migration ${migration.name} of the database is not the one of this topupd`);
      }
    }
    if (applied.length > migrations.length) {
      throw new StoreRefused("the database was made by a newer topupd: use that, or restore a backup");
    }
  });
  database.exec("PRAGMA foreign_keys = ON");
}

/** Whether tables, indexes and triggers are what the migrations make of an empty database. */
export function isSchemaExpected(database: Database): boolean {
  const expected = new DatabaseSync(":memory:");
  try {
    for (const { sql } of [{ sql: JOURNAL }, ...readMigrations()]) expected.exec(sql);
    return isDeepStrictEqual(readSchema(database), readSchema(expected));
  } finally {
    expected.close();
  }
}

function readSchema(database: Pick<Database, "prepare">): unknown[] {
  // SQLite's own tables, such as the statistics of ANALYZE, are nobody's doing.
  const query = `SELECT type, name, sql FROM sqlite_schema
    WHERE sql IS NOT NULL AND name NOT GLOB 'sqlite_*' ORDER BY type, name`;
  return database.prepare(query).all();
}

/** The checksums of the migrations that the database has had, in order. */
function readApplied(database: Database): string[] {
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as { name: string }[];
  if (tables.length === 0) {
    database.exec(JOURNAL);
    return [];
  }
  const rows = database.prepare("SELECT checksum FROM schema_migration ORDER BY number").all() as {
    checksum: string;
  }[];
  return rows.map(({ checksum }) => checksum);
}

function apply(database: Database, { number, name, sql, checksum }: Migration, now: Instant, mayApply: boolean): void {
  if (!mayApply) throw new StoreRefused("the database is of an older topupd: topupd serve brings it up to date");
  database.exec(sql);
  const [dangling] = database.prepare("PRAGMA foreign_key_check").all();
  if (dangling !== undefined) throw new StoreRefused(`migration ${name} leaves rows that refer to nothing`);
  database
    .prepare("INSERT INTO schema_migration (number, name, checksum, applied_at) VALUES (?, ?, ?, ?)")
    .run(number, name, checksum, now);
}

function readMigrations(): Migration[] {
  const folder = new URL("./migrations/", import.meta.url);
  const names = readdirSync(folder).filter((name) => name.endsWith(".sql"));
  return names.sort().map((name, index) => {
    const sql = readFileSync(new URL(name, folder), "utf8");
    if (Number.parseInt(name, 10) !== index + 1) throw new Error(`the migrations have a gap before ${name}`);
    return { number: index + 1, name, sql, checksum: createHash("sha256").update(sql).digest("hex") };
  });
}
