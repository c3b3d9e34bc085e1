import type { Instant } from "../../domain/wall-time.ts";
import { StoreContended, StoreRefused, StoreUnavailable } from "../errors.ts";
import {
  type AppliedMigration,
  migrationStates,
  NOT_UP_TO_DATE,
  pendingMigrations,
  readMigrations,
} from "../migrations.ts";
import type { MigrationState } from "../store.ts";
import { withOwnSession } from "./session/database.ts";
import { LOCK_OPENING } from "./session/locks.ts";
import { BEGIN, type Session } from "./session/session.ts";
import { translateAtOpening } from "./session/trouble.ts";

const MIGRATIONS = new URL("./migrations/", import.meta.url);

const JOURNAL = `CREATE TABLE schema_migration (
  number     integer PRIMARY KEY,
  name       text    NOT NULL,
  checksum   text    NOT NULL,
  applied_at bigint  NOT NULL
)`;
const RECORD = "INSERT INTO schema_migration (number, name, checksum, applied_at) VALUES ($1, $2, $3, $4)";

/**
 * Brings the schema up to date, one process at a time. Where it is, nothing is locked or written.
 * @throws StoreRefused where the database was migrated by a newer topupd, or lacks what may not be applied.
 */
export async function migrate(session: Session, now: Instant, mayApply: boolean): Promise<void> {
  if ((await findPending(session, mayApply)).length === 0) return;
  try {
    await session.runAll([[BEGIN], LOCK_OPENING]);
  } catch (cause) {
    if (!(cause instanceof StoreContended)) throw cause;
    const why = "another topupd has been making or migrating the database for a minute: see pg_stat_activity";
    throw new StoreUnavailable(why, { cause });
  }
  for (const { number, name, sql, checksum } of await findPending(session, mayApply)) {
    if (number === 1) await session.execute(JOURNAL);
    await session.execute(sql);
    await session.ask(RECORD, [number, name, checksum, now]);
  }
  await session.commit();
}

/** The state of a database's migrations; one without tables lacks them all. */
export async function readPostgresMigrations(url: string): Promise<MigrationState[]> {
  try {
    return await withOwnSession(url, async (session) =>
      migrationStates(readMigrations(MIGRATIONS), (await readApplied(session)) ?? []),
    );
  } catch (error) {
    throw translateAtOpening(error);
  }
}

async function findPending(session: Session, mayApply: boolean) {
  const applied = await readApplied(session);
  if (applied === undefined && !mayApply)
    throw new StoreRefused("the database is empty: topupd migrate, or topupd serve, makes its tables");
  const pending = pendingMigrations(readMigrations(MIGRATIONS), applied ?? []);
  if (pending.length > 0 && !mayApply) throw new StoreRefused(NOT_UP_TO_DATE);
  return pending;
}

/** @returns undefined where the database has no tables. */
async function readApplied(session: Session): Promise<AppliedMigration[] | undefined> {
  const { rows } = await session.ask("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()");
  if (rows.length === 0) return undefined;
  if (!rows.some(({ tablename }) => tablename === "schema_migration"))
    throw new StoreRefused("the database holds tables, but not those of topupd: give it a database of its own");
  return (await session.ask("SELECT name, checksum, applied_at FROM schema_migration ORDER BY number")).rows;
}
