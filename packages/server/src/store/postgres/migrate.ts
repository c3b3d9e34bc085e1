import type { Instant } from "../../domain/calendar.ts";
import {
  type AppliedMigration,
  migrationStates,
  NOT_UP_TO_DATE,
  pendingMigrations,
  readMigrations,
} from "../common/migrations.ts";
import { StoreRefused } from "../errors.ts";
import type { MigrationState } from "../store.ts";
import { isOwn } from "./schema.ts";
import { withOwnSession } from "./session/database.ts";
import type { Prepared, Session } from "./session/session.ts";
import { translateAtOpening } from "./session/trouble.ts";

const MIGRATIONS = new URL("./migrations/", import.meta.url);

const JOURNAL = `CREATE TABLE schema_migration (
  number     integer PRIMARY KEY,
  name       text    NOT NULL,
  checksum   text    NOT NULL,
  applied_at bigint  NOT NULL
)`;

const TABLES: Prepared = {
  name: "tables",
  text: `SELECT relname AS name, relpersistence = 'u' AS is_unlogged FROM pg_catalog.pg_class AS c
    WHERE relnamespace = quote_ident(current_schema())::regnamespace AND relkind IN ('r', 'p') AND ${isOwn("pg_class", "c")}`,
};
const APPLIED: Prepared = {
  name: "applied",
  text: "SELECT name, checksum, applied_at FROM schema_migration ORDER BY number",
};
const RECORD: Prepared = {
  name: "record",
  text: "INSERT INTO schema_migration (number, name, checksum, applied_at) VALUES ($1, $2, $3, $4)",
};

/** Whether the schema is up to date. @throws StoreRefused as {@link migrate}. */
export async function isMigrated(session: Session): Promise<boolean> {
  const tables = await readTables(session);
  if (tables.length === 0) return false;
  return pendingMigrations(readMigrations(MIGRATIONS), await readApplied(session, tables)).length === 0;
}

/**
 * Brings the schema up to date. To be called inside a transaction that holds the lock of opening.
 * @throws StoreRefused where the database was migrated by a newer topupd, or lacks what may not be applied.
 */
export async function migrate(session: Session, now: Instant, mayApply: boolean): Promise<void> {
  const tables = await readTables(session);
  const isNew = tables.length === 0;
  if (isNew && !mayApply)
    throw new StoreRefused("the database is empty: topupd migrate, or topupd serve, makes its tables");
  if (isNew && (await isElsewhere(session)))
    throw new StoreRefused(
      "the tables of topupd are in another schema than the first of search_path: set it to theirs",
    );
  if (isNew) await session.execute(JOURNAL);
  const pending = pendingMigrations(readMigrations(MIGRATIONS), isNew ? [] : await readApplied(session, tables));
  if (pending.length > 0 && !mayApply) throw new StoreRefused(NOT_UP_TO_DATE);
  for (const { number, name, sql, checksum } of pending) {
    await session.execute(sql);
    await session.run(RECORD, [number, name, checksum, now]);
  }
}

/** The state of a database's migrations; one without tables lacks them all. */
export async function readPostgresMigrations(url: string): Promise<MigrationState[]> {
  try {
    return await withOwnSession(url, "opening", async (session) => {
      const tables = await readTables(session);
      const applied = tables.length === 0 ? [] : await readApplied(session, tables);
      return migrationStates(readMigrations(MIGRATIONS), applied);
    });
  } catch (error) {
    throw translateAtOpening(error);
  }
}

/** Makes the tables of this topupd in the current schema, which is empty. */
export async function makeTables(session: Session): Promise<void> {
  for (const { sql } of [{ sql: JOURNAL }, ...readMigrations(MIGRATIONS)]) await session.execute(sql);
}

/** A schema that was made later, and is named like the user, comes before the one that holds the tables. */
async function isElsewhere(session: Session): Promise<boolean> {
  const [found] = await session.ask<{ is_there: boolean }>(
    "SELECT to_regclass('schema_migration') IS NOT NULL AS is_there",
  );
  return found?.is_there === true;
}

/** @throws StoreRefused where one does not keep what it is given. */
async function readTables(session: Session): Promise<string[]> {
  const tables = await session.run<{ name: string; is_unlogged: boolean }>(TABLES);
  const unlogged = tables.find(({ is_unlogged }) => is_unlogged)?.name;
  if (unlogged !== undefined)
    throw new StoreRefused(
      `the table ${unlogged} is UNLOGGED, and a crash of PostgreSQL would empty it: ALTER TABLE ${unlogged} SET LOGGED`,
    );
  return tables.map(({ name }) => name);
}

async function readApplied(session: Session, tables: readonly string[]): Promise<AppliedMigration[]> {
  if (!tables.includes("schema_migration"))
    throw new StoreRefused("the database holds tables, but not those of topupd: give it a database of its own");
  return session.run<AppliedMigration>(APPLIED);
}
