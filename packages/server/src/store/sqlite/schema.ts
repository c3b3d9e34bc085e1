import { existsSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { DatabaseSync, type DatabaseSyncInstance } from "@photostructure/sqlite";
import type { Instant } from "../../domain/wall-time.ts";
import { StoreRefused } from "../errors.ts";
import { type AppliedMigration, migrationStates, pendingMigrations, readMigrations } from "../migrations.ts";
import type { CheckEvent, MigrationState } from "../store.ts";
import type { Database } from "./database.ts";
import { cannotBeOpened } from "./error-translation.ts";
import { NOT_TOPUPDS } from "./file.ts";

const RECORD = "INSERT INTO schema_migration (number, name, checksum, applied_at) VALUES (?, ?, ?, ?)";

/** What of a connection asks; it is the driver's too. */
type Reader = Pick<Database, "prepare">;

/**
 * Brings the schema up to date in one transaction, where it is not. Safe to run from several processes at once; where
 * nothing is lacking, nothing is written and nobody is waited for.
 * @throws StoreRefused where the file was migrated by a newer topupd, or lacks what may not be applied.
 */
export async function migrate(database: Database, now: Instant, mayApply: boolean): Promise<void> {
  const findPending = () => pendingMigrations("sqlite", readApplied(database), mayApply);
  if (findPending().length === 0) return;
  await database.write(() => {
    for (const { number, name, sql, checksum } of findPending()) {
      database.exec(sql);
      database.prepare(RECORD).run(number, name, checksum, now);
    }
  });
}

/** The state of a file's migrations; a file that is not there lacks them all. */
export function readSqliteMigrations(path: string): MigrationState[] {
  if (!existsSync(path)) return migrationStates("sqlite", []);
  let connection: DatabaseSyncInstance | undefined;
  try {
    connection = new DatabaseSync(path, { readOnly: true });
    return migrationStates("sqlite", readApplied(connection));
  } catch (error) {
    throw error instanceof StoreRefused ? error : cannotBeOpened(path, error as Error);
  } finally {
    connection?.close();
  }
}

/** The migrations that a database has had, in order. */
function readApplied(database: Reader): AppliedMigration[] {
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as { name: string }[];
  if (tables.length === 0) return [];
  if (!tables.some(({ name }) => name === "schema_migration")) throw new StoreRefused(NOT_TOPUPDS);
  const journal = database.prepare("SELECT name, checksum, applied_at FROM schema_migration ORDER BY number");
  return journal.all() as AppliedMigration[];
}

/** Checks the file itself; `checkStore` checks whether its rows make sense together. */
export function* checkFile(database: Database): Generator<CheckEvent> {
  const faults = database.prepareRows<{ integrity_check: string }>("PRAGMA integrity_check")();
  const broken = faults.filter((fault) => fault.integrity_check !== "ok");
  for (const fault of broken) yield { kind: "wrong", what: `integrity: ${fault.integrity_check}` };
  const dangling = database.prepareRows<{ table: string }>("PRAGMA foreign_key_check")();
  for (const { table } of dangling) yield { kind: "wrong", what: `integrity: a row of ${table} refers to nothing` };
  if (broken.length + dangling.length === 0) yield { kind: "checked", what: "integrity of the file", count: 1 };
  database.verifyDurability();
  yield { kind: "checked", what: "durability: write-ahead log, synchronous=FULL", count: 1 };
  yield isSchemaExpected(database)
    ? { kind: "checked", what: "tables and triggers are those of this topupd", count: 1 }
    : { kind: "wrong", what: "tables or triggers are not those of this topupd" };
}

/** Whether tables, indexes and triggers are what the migrations make of an empty database. */
function isSchemaExpected(database: Database): boolean {
  const expected = new DatabaseSync(":memory:");
  try {
    for (const { sql } of readMigrations("sqlite")) expected.exec(sql);
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
