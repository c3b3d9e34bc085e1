import type pg from "pg";
import type { Instant } from "../../domain/wall-time.ts";
import { StoreRefused } from "../errors.ts";
import {
  type AppliedMigration,
  migrationStates,
  NOT_UP_TO_DATE,
  pendingMigrations,
  readMigrations,
} from "../migrations.ts";
import type { ProviderWishes } from "../settings.ts";
import { ensureCheckoutSecret, settleProvider } from "../settings.ts";
import type { MigrationState, Store } from "../store.ts";
import { createPostgresEngine } from "./engine.ts";
import { createPostgresStore, type PostgresStoreOptions } from "./postgres-store.ts";
import { Database, endClient, openClient, withOwnSession } from "./session/database.ts";
import { LOCK_OPENING } from "./session/locks.ts";
import { BEGIN, type Session } from "./session/session.ts";
import { SHARED_BACKENDS, translateAtOpening } from "./session/trouble.ts";
import { Watch } from "./session/watch.ts";

export interface OpenPostgresOptions extends ProviderWishes, PostgresStoreOptions {
  /** Refuses to make the tables, and to bring older ones up to date. */
  readonly mustExist?: boolean;
  readonly random: (bytes: number) => Uint8Array;
}

/** Beside those that serve partners. */
const OFFICE_CONNECTIONS = 2;

/**
 * Opens the store in PostgreSQL, and migrates it where needed. Safe from several processes at once; what is settled is
 * opened without a lock or a write.
 * @throws StoreRefused where topupd will not work with the database; the message says why.
 * @throws StoreUnavailable where it cannot be reached.
 */
export async function openPostgresStore(options: OpenPostgresOptions): Promise<Store> {
  const { url, clock, mustExist = false } = options;
  const office = new Database({ url, connections: OFFICE_CONNECTIONS, purpose: "office" });
  let watch: Watch | undefined;
  const engine = createPostgresEngine({ url, database: office, changed: () => watch?.forget() });
  try {
    await withOwnSession(url, async (session, client) => {
      await refuseSharedBackends(client, url);
      await migrate(session, clock(), !mustExist);
    });
    const provider = await settleProvider(engine, options);
    await ensureCheckoutSecret(engine, options);
    watch = new Watch(url, provider);
    return createPostgresStore(options, { office, engine, provider, watch });
  } catch (error) {
    await office.close();
    throw translateAtOpening(error);
  }
}

/** Where a pooler is busy, two sessions may keep different backends by chance; seldom so often. */
const ROUNDS = 4;

/**
 * What a session sets, prepares or locks is its backend's: with another one, a commit might not wait for the disk. It takes
 * two sessions to see whether each has one of its own.
 */
async function refuseSharedBackends(one: pg.Client, url: string): Promise<void> {
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

const MIGRATIONS = new URL("./migrations/", import.meta.url);

const JOURNAL = `CREATE TABLE schema_migration (
  number     integer PRIMARY KEY,
  name       text    NOT NULL,
  checksum   text    NOT NULL,
  applied_at bigint  NOT NULL
)`;
const RECORD = "INSERT INTO schema_migration (number, name, checksum, applied_at) VALUES ($1, $2, $3, $4)";

/** Brings the schema up to date, one process at a time. Where it is, nothing is locked or written. */
async function migrate(session: Session, now: Instant, mayApply: boolean): Promise<void> {
  if ((await findPending(session, mayApply)).length === 0) return;
  await session.runAll([BEGIN, LOCK_OPENING]);
  for (const { number, name, sql, checksum } of await findPending(session, mayApply)) {
    if (number === 1) await session.ask(JOURNAL);
    await session.ask(sql);
    await session.ask(RECORD, [number, name, checksum, now]);
  }
  await session.commit();
}

/** The state of a database's migrations; one without tables lacks them all. */
export async function readPostgresMigrations(url: string): Promise<MigrationState[]> {
  try {
    const applied = await withOwnSession(url, readApplied);
    return migrationStates(readMigrations(MIGRATIONS), applied ?? []);
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
