import { existsSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { DatabaseSync, type DatabaseSyncInstance } from "@photostructure/sqlite";
import type { Instant } from "../../domain/wall-time.ts";
import { StoreRefused } from "../errors.ts";
import {
  type AppliedMigration,
  migrationStates,
  NOT_UP_TO_DATE,
  pendingMigrations,
  readMigrations,
} from "../migrations.ts";
import type { MigrationState } from "../store.ts";
import type { Database } from "./database.ts";
import { cannotBeOpened } from "./trouble.ts";

const JOURNAL = `CREATE TABLE schema_migration (
  number     INTEGER PRIMARY KEY,
  name       TEXT    NOT NULL,
  checksum   TEXT    NOT NULL,
  applied_at INTEGER NOT NULL
) STRICT`;
const RECORD = "INSERT INTO schema_migration (number, name, checksum, applied_at) VALUES (?, ?, ?, ?)";

const MIGRATIONS = new URL("./migrations/", import.meta.url);

/** What of a connection asks; it is the driver's too. */
type Reader = Pick<Database, "prepare">;

/**
 * Brings the schema up to date in one transaction, where it is not. Safe to run from several processes at once; where
 * nothing is lacking, nothing is written and nobody is waited for.
 * @throws StoreRefused where the file was migrated by a newer topupd, or lacks what may not be applied.
 */
export async function migrate(database: Database, now: Instant, mayApply: boolean): Promise<void> {
  const migrations = readMigrations(MIGRATIONS);
  const findPending = () => pendingMigrations(migrations, readApplied(database));
  if (findPending().length === 0) return;
  if (!mayApply) throw new StoreRefused(NOT_UP_TO_DATE);
  await database.write(() => {
    for (const { number, name, sql, checksum } of findPending()) {
      if (number === 1) database.exec(JOURNAL);
      database.exec(sql);
      database.prepare(RECORD).run(number, name, checksum, now);
    }
  });
}

/** The state of a file's migrations; a file that is not there lacks them all. */
export function readSqliteMigrations(path: string): MigrationState[] {
  const migrations = readMigrations(MIGRATIONS);
  if (!existsSync(path)) return migrationStates(migrations, []);
  let connection: DatabaseSyncInstance | undefined;
  try {
    connection = new DatabaseSync(path, { readOnly: true });
    return migrationStates(migrations, readApplied(connection));
  } catch (error) {
    throw error instanceof StoreRefused ? error : cannotBeOpened(path, error as Error);
  } finally {
    connection?.close();
  }
}

/** Whether tables, indexes and triggers are what the migrations make of an empty database. */
export function isSchemaExpected(database: Reader): boolean {
  const expected = new DatabaseSync(":memory:");
  try {
    for (const sql of [JOURNAL, ...readMigrations(MIGRATIONS).map((migration) => migration.sql)]) expected.exec(sql);
    return isDeepStrictEqual(readSchema(database), readSchema(expected));
  } finally {
    expected.close();
  }
}

function readSchema(database: Reader): unknown[] {
  // SQLite's own tables, such as the statistics of ANALYZE, are nobody's doing.
  const query = `SELECT type, name, sql FROM sqlite_schema
    WHERE sql IS NOT NULL AND name NOT GLOB 'sqlite_*' ORDER BY type, name`;
  return database.prepare(query).all();
}

/** The migrations that a database has had, in order. */
function readApplied(database: Reader): AppliedMigration[] {
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as { name: string }[];
  if (tables.length === 0) return [];
  if (!tables.some(({ name }) => name === "schema_migration"))
    throw new StoreRefused("the file is a database, but not one of topupd");
  const journal = database.prepare("SELECT name, checksum, applied_at FROM schema_migration ORDER BY number");
  return journal.all() as AppliedMigration[];
}
