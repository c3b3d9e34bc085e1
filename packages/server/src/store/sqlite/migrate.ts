import { closeSync, existsSync, fsyncSync, openSync, realpathSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DatabaseSync, type DatabaseSyncInstance } from "@photostructure/sqlite";
import type { Instant } from "../../domain/wall-time.ts";
import { StoreRefused } from "../errors.ts";
import {
  type AppliedMigration,
  type Migrating,
  type Migration,
  migrationStates,
  pendingMigrations,
} from "../migrations.ts";
import type { MigrationState } from "../store.ts";
import { Database } from "./database.ts";
import { cannotBeOpened, isBusy, measureFile, NOT_TOPUPDS, translate } from "./file.ts";

/** The part of a connection that reads. The driver's connections have it too. */
export type Reader = Pick<Database, "prepare">;

interface Options extends Migrating {
  readonly clock: () => Instant;
  readonly mustExist?: boolean;
  readonly onCopy?: ((path: string) => void) | undefined;
}

/**
 * Opens a file and applies pending migrations in one transaction. A new file may be opened by several processes at once. A
 * file with data is migrated only if no other process has it open, and after a copy. Without pending migrations, it writes
 * nothing and waits for no lock.
 * @throws StoreRefused if a newer topupd migrated the file, or migrations are pending and cannot be applied.
 */
export async function openUpToDate(path: string, options: Options): Promise<Database> {
  const { mustExist = false, clock } = options;
  if (!mustExist && isOlder(path, options)) await upgrade(path, options);
  const database = new Database(path, { mustExist });
  const findPending = () => pendingIn(path, readApplied(database), options);
  try {
    if (findPending().length > 0) await database.write(() => apply(database, findPending(), clock()));
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function pendingIn(path: string, applied: readonly AppliedMigration[], { mustExist = false, migrations }: Options) {
  const findCopy = (number: number) => [copyName(path, number)].find((name) => existsSync(name));
  return pendingMigrations("sqlite", applied, { mayApply: !mustExist, findCopy, migrations });
}

function apply(connection: Pick<Database, "exec">, pending: readonly Migration[], now: Instant): void {
  for (const { number, name, sql, checksum } of pending)
    connection.exec(`${sql};
      INSERT INTO schema_migration VALUES (${number}, ${quoted(name)}, ${quoted(checksum)}, ${now})`);
}

/** Whether a file has data and pending migrations. */
function isOlder(path: string, options: Options): boolean {
  if (!existsSync(path)) return false;
  let connection: DatabaseSyncInstance | undefined;
  try {
    connection = new DatabaseSync(path);
    const applied = readAppliedOnce(connection);
    return applied.length > 0 && pendingIn(path, applied, options).length > 0;
  } catch (error) {
    throw error instanceof StoreRefused ? error : cannotBeOpened(path, error as Error);
  } finally {
    connection?.close();
  }
}

/** Migrates a file with data, which no other process may have open. */
async function upgrade(path: string, options: Options): Promise<void> {
  const connection = await openAlone(path);
  try {
    // Another process may have migrated the file since.
    const pending = pendingIn(path, readAppliedOnce(connection), options);
    const [first] = pending;
    if (first === undefined) return;
    const copy = copyName(path, first.number);
    copyFile(connection, path, copy);
    options.onCopy?.(copy);
    connection.exec("BEGIN IMMEDIATE");
    apply(connection, pending, options.clock());
    connection.exec("COMMIT");
  } catch (error) {
    throw translate(error);
  } finally {
    // Closing rolls back what is not committed.
    connection.close();
  }
}

/**
 * The rows of a query, without a statement: a statement keeps its connection and the locks of it after closing, until it is
 * garbage.
 */
function readOnce(connection: DatabaseSyncInstance, columns: string, from: string): unknown[][] {
  const rows: unknown[][] = [];
  connection.function("topupd_row", { varargs: true }, (...row: unknown[]) => {
    rows.push(row);
    return null;
  });
  connection.exec(`SELECT topupd_row(${columns}) FROM ${from}`);
  return rows;
}

function readAppliedOnce(connection: DatabaseSyncInstance): AppliedMigration[] {
  if (readOnce(connection, "name", "sqlite_schema WHERE name = 'schema_migration'").length === 0) return [];
  const rows = readOnce(connection, "name, checksum, applied_at", "schema_migration ORDER BY number");
  return rows.map(([name, checksum, at]) => ({
    name: String(name),
    checksum: String(checksum),
    applied_at: Number(at),
  }));
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** How long to wait for processes that are ending. */
const ALONE_WITHIN_MS = 5_000;
const PAUSE_MS = 50;
const NOT_ALONE =
  "the database must be upgraded, and other processes have it open: stop all services and commands of topupd first";

/** Opens a file for this connection only, with durable commits. */
async function openAlone(path: string): Promise<DatabaseSyncInstance> {
  for (let waited = 0; ; waited += PAUSE_MS) {
    const connection = new DatabaseSync(path);
    try {
      connection.exec(`PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;
        BEGIN IMMEDIATE; ROLLBACK`);
      return connection;
    } catch (error) {
      connection.close();
      if (!isBusy(error)) throw error;
      if (waited >= ALONE_WITHIN_MS) throw new StoreRefused(NOT_ALONE);
    }
    await sleep(PAUSE_MS);
  }
}

/** The name of the copy that is made before the migration of a number: `topupd.db.before-0002`. */
function copyName(path: string, number: number): string {
  return `${realpathSync(path)}.before-${String(number).padStart(4, "0")}`;
}

/**
 * Writes a verified copy of the file. It gets its name when all of it is on disk.
 * @throws StoreRefused if there is no room for it, or it cannot be written.
 */
function copyFile(connection: DatabaseSyncInstance, path: string, name: string): void {
  const unfinished = `${name}.part`;
  try {
    rmSync(unfinished, { force: true });
    const { database, log = 0, free = 0 } = measureFile(path);
    if (free < database + log) throw new Error(`the disk has ${free} bytes free, and ${database + log} are needed`);
    // SQLite writes into an empty file. Other users of the machine must not read it.
    closeSync(openSync(unfinished, "wx", 0o600));
    connection.exec(`VACUUM INTO ${quoted(unfinished)}`);
    verifyCopy(unfinished);
    flush(unfinished, "r+");
    renameSync(unfinished, name);
    if (process.platform !== "win32") flush(dirname(name), "r");
  } catch (error) {
    rmSync(unfinished, { force: true });
    const why = (error as Error).message;
    throw new StoreRefused(`before an upgrade, the database is copied to ${name}, but ${why}. Nothing was changed`);
  }
}

function verifyCopy(path: string): void {
  const copy = new DatabaseSync(path, { readOnly: true });
  try {
    const found = readOnce(copy, "integrity_check", "pragma_integrity_check").join();
    if (found !== "ok") throw new Error(`the copy is damaged: ${found}`);
  } finally {
    copy.close();
  }
}

function flush(path: string, flags: string): void {
  const file = openSync(path, flags);
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** The state of a file's migrations. In a missing file all are pending. */
export function readSqliteMigrations(path: string, migrating: Migrating = {}): MigrationState[] {
  if (!existsSync(path)) return migrationStates("sqlite", [], migrating);
  let connection: DatabaseSyncInstance | undefined;
  try {
    connection = new DatabaseSync(path, { readOnly: true });
    return migrationStates("sqlite", readApplied(connection), migrating);
  } catch (error) {
    throw error instanceof StoreRefused ? error : cannotBeOpened(path, error as Error);
  } finally {
    connection?.close();
  }
}

/** The applied migrations, in order. */
function readApplied(database: Reader): AppliedMigration[] {
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as { name: string }[];
  if (tables.length === 0) return [];
  if (!tables.some(({ name }) => name === "schema_migration")) throw new StoreRefused(NOT_TOPUPDS);
  const journal = database.prepare("SELECT name, checksum, applied_at FROM schema_migration ORDER BY number");
  return journal.all() as AppliedMigration[];
}
