import type pg from "pg";
import { customerDigestIn } from "../../domain/checkout.ts";
import type { SettledTopUp } from "../../domain/top-up.ts";
import type { Instant } from "../../domain/wall-time.ts";
import { recordTokenUses } from "../access.ts";
import { exportArchive } from "../archive.ts";
import { importArchive } from "../archive-filling.ts";
import { Batcher } from "../batcher.ts";
import { practiceCounter, recordRefusedCalls, recordTrialCalls } from "../calls.ts";
import { checkStore } from "../check.ts";
import { customerImports } from "../customer-imports.ts";
import type { Engine } from "../engine.ts";
import { StoreRefused } from "../errors.ts";
import { shareLookUps } from "../look-ups.ts";
import {
  type AppliedMigration,
  type Migrating,
  migrationStates,
  pendingMigrations,
  readMigrations,
} from "../migrations.ts";
import { partnerReads } from "../partner-reads.ts";
import { ensureCheckoutSecret, type ProviderWishes, settleProvider } from "../settings.ts";
import type { SettlingItem } from "../settling.ts";
import type { CheckEvent, Conclusion, MigrationState, ObserveBatch, ProviderSettings, Store } from "../store.ts";
import { Database, endClient, openClient, withOwnSession } from "./database.ts";
import { createPostgresEngine, kyselyOn } from "./engine.ts";
import { SHARED_BACKENDS, translateAtOpening } from "./error-translation.ts";
import { excludeServing, LOCK_OPENING, refuseHiddenLocks } from "./locks.ts";
import { postgresReader } from "./reader.ts";
import { PostgresReferenceCache } from "./reference-cache.ts";
import { BEGIN, type Prepared, type Session } from "./session.ts";
import { standbyOf } from "./standby.ts";
import { topUpTables } from "./top-ups.ts";

export interface PostgresStoreOptions extends ProviderWishes, Migrating {
  /** postgres://USER:PASSWORD@HOST:PORT/DATABASE, with the options that the driver knows. */
  readonly url: string;
  /** The URL of a standby for lists and reports; undefined: they read the database. */
  readonly reportsUrl?: string | undefined;
  /** The maximum number of sessions that serve partners. */
  readonly connections: number;
  readonly clock: () => Instant;
  readonly random: (bytes: number) => Uint8Array;
  readonly observeBatch?: ObserveBatch | undefined;
}

const OFFICE_CONNECTIONS = 2;

/**
 * Opens the store in PostgreSQL and migrates it if needed. Several processes may do so at once. A database that is up to
 * date is opened without a write or a lock. With `mustExist` it neither creates nor migrates.
 * @throws StoreRefused if topupd does not accept the database; the message says why.
 * @throws StoreUnavailable if the database cannot be reached.
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { url, clock, mustExist = false } = options;
  const known = readMigrations("postgres", options).length;
  const office = new Database({ url, connections: OFFICE_CONNECTIONS, purpose: "office", known });
  let reference: PostgresReferenceCache | undefined;
  const engine = createPostgresEngine({ url, database: office, changed: () => reference?.forget() });
  try {
    await withOwnSession(url, async (session, client) => {
      await refuseSharedBackends(client, url);
      await refuseHiddenLocks(session);
      await migrate(session, clock(), { mayApply: !mustExist, migrations: options.migrations });
    });
    const provider = await settleProvider(engine, options);
    await ensureCheckoutSecret(engine, options);
    const serving = new Database({ url, connections: options.connections, purpose: "serving", known });
    reference = new PostgresReferenceCache(
      { url, known },
      kyselyOn((ask) => serving.withSession(ask)),
      provider,
    );
    return createPostgresStore(options, { office, serving, engine, provider, reference });
  } catch (error) {
    await office.close();
    throw translateAtOpening(error);
  }
}

/** While PostgreSQL works on one batch, this process prepares the next, and the disk writes a third. */
const CONCURRENCY = { maxBatches: 4, worthwhile: 16 } as const;
/** Connections kept free for look-ups, even if all batches wait for locks. */
const SPARE_CONNECTIONS = 1;

const PING: Prepared = { name: "ping", text: "SELECT 1" };
const SIZE: Prepared = { name: "size", text: "SELECT pg_database_size(current_database()) AS bytes" };
const DURABILITY: Prepared = {
  name: "durability",
  text: `SELECT current_setting('synchronous_commit') AS commit,
    current_setting('full_page_writes') AS pages`,
};

interface PostgresStoreParts {
  readonly office: Database;
  /** The sessions for partners' requests and imports. */
  readonly serving: Database;
  readonly engine: Engine;
  readonly provider: ProviderSettings;
  readonly reference: PostgresReferenceCache;
}

function createPostgresStore(options: PostgresStoreOptions, parts: PostgresStoreParts): Store {
  const { connections, clock } = options;
  const { office, serving, engine, provider, reference } = parts;
  const topUps = topUpTables({ database: serving, provider, clock, reference });
  const batcher = new Batcher({
    settle: (items: readonly SettlingItem[]) => topUps.settle(items),
    observe: options.observeBatch,
    concurrency: {
      ...CONCURRENCY,
      maxBatches: Math.max(1, Math.min(CONCURRENCY.maxBatches, connections - SPARE_CONNECTIONS)),
      lane: (item) => customerDigestIn(item.kind === "top_up" ? item.command.checkoutId : item.checkoutId),
    },
  });
  const standby =
    options.reportsUrl === undefined ? undefined : standbyOf(options.reportsUrl, { database: office, engine, clock });
  const quick = createPostgresEngine({ url: options.url, database: serving, changed: () => {} });
  const checkDurability = async (): Promise<CheckEvent> => {
    const [found] = await office.ask<{ commit: string; pages: string }>(DURABILITY);
    if (found?.pages !== "on")
      return { kind: "wrong", what: "durability: full_page_writes=off, which only a few file systems make up for" };
    return { kind: "checked", what: `durability: fsync=on, synchronous_commit=${found.commit}`, count: 1 };
  };
  return {
    provider,
    engine,
    reports: standby?.engine ?? engine,
    reportsBehindMs: async () => standby?.behindMs(),
    ...partnerReads(postgresReader(serving), provider),
    ...customerImports(quick, provider),
    settleTopUp: (command) => batcher.add({ kind: "top_up", command }) as Promise<SettledTopUp>,
    isOverloaded: () => batcher.isFull,
    concludeCheckout: (checkoutId) => batcher.add({ kind: "conclusion", checkoutId }) as Promise<Conclusion>,

    findAccessToken: (hash) => reference.findToken(hash),
    checkoutSecrets: () => reference.listSecrets(),
    currentCatalogue: (environment, now) => reference.currentCatalogue(environment, now),

    async *check() {
      yield await checkDurability();
      yield* checkStore(engine, provider.zone);
    },
    recordTokenUses: (uses) => recordTokenUses(engine, uses),
    recordRefusedCalls: (calls) => recordRefusedCalls(engine, calls),
    recordTrialCalls: (calls) => recordTrialCalls(engine, calls),
    shareLookUps: (...of) => shareLookUps(quick, ...of),
    practise: practiceCounter(engine),
    exportArchive: (writers, work) => exportArchive(engine, writers, work),
    importArchive: (chunks, pausing) => importArchive(engine, chunks, provider, pausing),

    async ping() {
      await serving.ask(PING);
    },
    async space() {
      const [size] = await office.ask<{ bytes: number | string }>(SIZE);
      return { database: Number(size?.bytes), log: undefined, free: undefined };
    },
    async close() {
      await batcher.drained();
      await reference.close();
      await Promise.all([serving.close(), office.close(), standby?.close()]);
    },
  };
}

const RECORD = "INSERT INTO schema_migration (number, name, checksum, applied_at) VALUES ($1, $2, $3, $4)";

/**
 * Applies pending migrations in one transaction, one process at a time. Without pending migrations it locks and writes
 * nothing.
 * @throws StoreRefused if other processes serve the database that cannot serve it afterwards.
 */
async function migrate(
  session: Session,
  now: Instant,
  migrating: Migrating & { readonly mayApply: boolean },
): Promise<void> {
  const findPending = async () => {
    const applied = await readApplied(session);
    return { applied: applied.length, pending: pendingMigrations("postgres", applied, migrating) };
  };
  if ((await findPending()).pending.length === 0) return;
  await session.runAll([BEGIN, LOCK_OPENING]);
  const { applied, pending } = await findPending();
  const isAdditive = pending.every((migration) => migration.isAdditive);
  await excludeServing(session, { applied, mayServe: isAdditive ? applied : undefined });
  for (const { number, name, sql, checksum } of pending) {
    await session.ask(sql);
    await session.ask(RECORD, [number, name, checksum, now]);
  }
  await session.commit();
}

/** The state of a database's migrations. Without tables all are pending. */
export async function readPostgresMigrations(url: string, migrating: Migrating = {}): Promise<MigrationState[]> {
  try {
    return migrationStates("postgres", await withOwnSession(url, readApplied), migrating);
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

/** With a busy pooler, two sessions may have different backends by chance, but rarely so often. */
const ROUNDS = 4;

/**
 * Settings, prepared statements and locks belong to a backend of PostgreSQL. If a pooler switches backends, a commit might
 * not wait for the disk. Two sessions are needed to see whether each keeps its own backend.
 */
async function refuseSharedBackends(one: pg.Client, url: string): Promise<void> {
  // PostgreSQL sends each client the number of its backend. A pooler sends an invented number.
  const { processID } = one as unknown as { readonly processID: number | null };
  if ((await backendOf(one)) === processID) return;
  // A pooler without room for a second session cannot be checked, and cannot serve topupd anyway.
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
