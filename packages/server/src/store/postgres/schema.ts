import type pg from "pg";
import type { Instant } from "../../domain/wall-time.ts";
import { StoreRefused } from "../errors.ts";
import { type AppliedMigration, migrationStates, pendingMigrations } from "../migrations.ts";
import type { MigrationState } from "../store.ts";
import { endClient, openClient, withOwnSession } from "./session/database.ts";
import { SHARED_BACKENDS, translateAtOpening } from "./session/error-translation.ts";
import { LOCK_OPENING } from "./session/locks.ts";
import { BEGIN, type Session } from "./session/session.ts";

const RECORD = "INSERT INTO schema_migration (number, name, checksum, applied_at) VALUES ($1, $2, $3, $4)";

/** Brings the schema up to date, one process at a time. Where it is, nothing is locked or written. */
export async function migrate(session: Session, now: Instant, mayApply: boolean): Promise<void> {
  const findPending = async () => pendingMigrations("postgres", await readApplied(session), mayApply);
  if ((await findPending()).length === 0) return;
  await session.runAll([BEGIN, LOCK_OPENING]);
  for (const { number, name, sql, checksum } of await findPending()) {
    await session.ask(sql);
    await session.ask(RECORD, [number, name, checksum, now]);
  }
  await session.commit();
}

/** The state of a database's migrations; one without tables lacks them all. */
export async function readPostgresMigrations(url: string): Promise<MigrationState[]> {
  try {
    return migrationStates("postgres", await withOwnSession(url, readApplied));
  } catch (error) {
    throw translateAtOpening(error);
  }
}

async function readApplied(session: Session): Promise<AppliedMigration[]> {
  const { rows } = await session.ask("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()");
  if (rows.length === 0) return [];
  if (!rows.some(({ tablename }) => tablename === "schema_migration"))
    throw new StoreRefused("the database holds tables, but not those of topupd: give it a database of its own");
  return (await session.ask("SELECT name, checksum, applied_at FROM schema_migration ORDER BY number")).rows;
}

/** Where a pooler is busy, two sessions may keep different backends by chance; seldom so often. */
const ROUNDS = 4;

/**
 * What a session sets, prepares or locks is its backend's: with another one, a commit might not wait for the disk. It takes
 * two sessions to see whether each has one of its own.
 */
export async function refuseSharedBackends(one: pg.Client, url: string): Promise<void> {
  // A pooler makes up another number than that of the backend, which PostgreSQL itself announces to each client.
  const { processID } = one as unknown as { readonly processID: number | null };
  if ((await backendOf(one)) === processID) return;
  // One that has no room for a second session cannot be judged, and is of little use anyway.
  const other = await openClient(url, "working").catch(() => undefined);
  if (other === undefined) return;
  try {
    const first = [await backendOf(one), await backendOf(other)];
    for (let round = 1; round <= ROUNDS; round += 1) {
      const now = [await backendOf(one), await backendOf(other)];
      if (now[0] === now[1] || now.some((backend, each) => backend !== first[each]))
        throw new StoreRefused(SHARED_BACKENDS);
    }
  } finally {
    await endClient(other);
  }
}

async function backendOf(client: pg.Client): Promise<number | undefined> {
  return (await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid")).rows[0]?.pid;
}
