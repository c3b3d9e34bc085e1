import { existsSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { DatabaseSync, type DatabaseSyncInstance } from "@photostructure/sqlite";
import type { Instant } from "../../domain/calendar.ts";
import {
  type AppliedMigration,
  type Migration,
  migrationStates,
  NOT_UP_TO_DATE,
  pendingMigrations,
  readMigrations,
} from "../common/migrations.ts";
import { StoreRefused } from "../errors.ts";
import type { MigrationState } from "../store.ts";
import type { Database } from "./database.ts";
import { cannotBeOpened } from "./trouble.ts";

const JOURNAL = `CREATE TABLE schema_migration (
  number     INTEGER PRIMARY KEY,
  name       TEXT    NOT NULL,
  checksum   TEXT    NOT NULL,
  applied_at INTEGER NOT NULL
) STRICT`;

const MIGRATIONS = new URL("./migrations/", import.meta.url);

/**
 * Brings the schema up to date in one transaction, where it is not. Safe to run from several processes at once.
 * @throws StoreRefused where the file was migrated by a newer topupd, or lacks what may not be applied.
 */
export function migrate(database: Database, now: Instant, { mayApply }: { readonly mayApply: boolean }): void {
  // A migration may have to make a table anew to which others refer; it is verified at its end.
  database.exec("PRAGMA foreign_keys = OFF");
  const migrations = readMigrations(MIGRATIONS);
  const lacking = () => pendingMigrations(migrations, readApplied(database));
  database.findOrMake(
    () => (lacking().length === 0 ? "up to date" : undefined),
    () => {
      if (readTables(database).length === 0) database.exec(JOURNAL);
      for (const migration of lacking()) apply(database, migration, now, mayApply);
      return "up to date";
    },
  );
  database.exec("PRAGMA foreign_keys = ON");
}

/** The state of a file's migrations; a file that is not there lacks them all. */
export function readSqliteMigrations(path: string): MigrationState[] {
  const migrations = readMigrations(MIGRATIONS);
  if (!existsSync(path)) return migrationStates(migrations, []);
  let database: DatabaseSyncInstance | undefined;
  try {
    database = new DatabaseSync(path, { readOnly: true });
    const tables = readTables(database);
    if (tables.length > 0 && !tables.includes("schema_migration"))
      throw new StoreRefused("the file is a database, but not one of topupd");
    return migrationStates(migrations, tables.length === 0 ? [] : readJournal(database));
  } catch (error) {
    throw error instanceof StoreRefused ? error : cannotBeOpened(path, error as Error);
  } finally {
    database?.close();
  }
}

/** Whether tables, indexes and triggers are what the migrations make of an empty database. */
export function isSchemaExpected(database: Database): boolean {
  const expected = new DatabaseSync(":memory:");
  try {
    for (const { sql } of [{ sql: JOURNAL }, ...readMigrations(MIGRATIONS)]) expected.exec(sql);
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

/** The migrations that the database has had, in order. */
function readApplied(database: Database): AppliedMigration[] {
  return readTables(database).length > 0 ? readJournal(database) : [];
}

function readTables(database: Pick<Database, "prepare">): string[] {
  const rows = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as { name: string }[];
  return rows.map(({ name }) => name);
}

function readJournal(database: Pick<Database, "prepare">): AppliedMigration[] {
  const journal = database.prepare("SELECT name, checksum, applied_at FROM schema_migration ORDER BY number");
  return journal.all() as AppliedMigration[];
}

function apply(database: Database, { number, name, sql, checksum }: Migration, now: Instant, mayApply: boolean): void {
  if (!mayApply) throw new StoreRefused(NOT_UP_TO_DATE);
  database.exec(sql);
  const [dangling] = database.prepare("PRAGMA foreign_key_check").all();
  if (dangling !== undefined) throw new StoreRefused(`migration ${name} leaves rows that refer to nothing`);
  database
    .prepare("INSERT INTO schema_migration (number, name, checksum, applied_at) VALUES (?, ?, ?, ?)")
    .run(number, name, checksum, now);
}
