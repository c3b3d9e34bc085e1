import { isDeepStrictEqual } from "node:util";
import { DatabaseSync } from "@photostructure/sqlite";
import type { SettledTopUp } from "../../domain/top-up.ts";
import type { Instant } from "../../domain/wall-time.ts";
import { recordTokenUses } from "../access.ts";
import { exportArchive } from "../archive.ts";
import { importArchive } from "../archive-filling.ts";
import { Batcher } from "../batcher.ts";
import { practiceCounter, recordRefusedCalls, recordTrialCalls } from "../calls.ts";
import { checkStore } from "../check.ts";
import { customerImports } from "../customer-imports.ts";
import { StoreUnavailable } from "../errors.ts";
import { shareLookUps } from "../look-ups.ts";
import { type Migrating, readMigrations } from "../migrations.ts";
import { partnerReads } from "../partner-reads.ts";
import { ensureCheckoutSecret, type ProviderWishes, settleProvider } from "../settings.ts";
import type { SettlingItem } from "../settling.ts";
import type { CheckEvent, Conclusion, ObserveBatch, ProviderSettings, Store } from "../store.ts";
import { Database } from "./database.ts";
import { createSqliteEngine, type SqliteEngine } from "./engine.ts";
import { isDamage, measureFile, secureLeftLog, translate } from "./file.ts";
import { openUpToDate, type Reader } from "./migrate.ts";
import { sqliteReader } from "./reader.ts";
import { SqliteReferenceCache } from "./reference-cache.ts";
import { SettlerClient } from "./settler-client.ts";
import { topUpTables } from "./top-ups.ts";

export interface SqliteStoreOptions extends ProviderWishes, Migrating {
  readonly path: string;
  readonly clock: () => Instant;
  readonly random: (bytes: number) => Uint8Array;
  readonly observeBatch?: ObserveBatch | undefined;
  /** The settler's socket, for processes of a service. Commands have none and settle themselves. */
  readonly settlerSocket?: string | undefined;
  /** Called with the path of the copy that was made before migrations are applied. */
  readonly onCopy?: ((path: string) => void) | undefined;
}

/**
 * Opens the embedded store and migrates it if needed. With `mustExist` it neither creates nor migrates.
 * @throws StoreRefused if topupd does not accept the file; the message says why.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { path, settlerSocket } = options;
  secureLeftLog(path);
  const database = await openUpToDate(path, options);
  const engine = createSqliteEngine(engineParts(path, database));
  try {
    const provider = await settleProvider(engine, options);
    await ensureCheckoutSecret(engine, options);
    // A caller that got its answer must see the settled top-up in its next request.
    const onSettled = () => database.endView();
    const settler =
      settlerSocket === undefined ? undefined : new SettlerClient(settlerSocket, provider.zone, onSettled);
    await settler?.connected;
    return createSqliteStore(options, { database, engine, provider, settler });
  } catch (error) {
    await engine.close();
    database.close();
    throw translate(error);
  }
}

/** The parts of an engine beside the connection that serves partners. */
function engineParts(path: string, database: Database) {
  return { connect: () => new Database(path, { mustExist: true }), committed: () => database.endView() };
}

interface SqliteStoreParts {
  readonly database: Database;
  /** Staff's queries and changes, on their own connection. */
  readonly engine: SqliteEngine;
  readonly provider: ProviderSettings;
  readonly settler: SettlerClient | undefined;
}

function createSqliteStore(options: SqliteStoreOptions, parts: SqliteStoreParts): Store {
  const { path, clock, observeBatch } = options;
  const { database, engine, provider, settler } = parts;
  const importing = createSqliteEngine(engineParts(path, database));
  const reference = new SqliteReferenceCache(database, provider);
  const topUps = topUpTables({ database, provider, clock, reference });
  const batcher = new Batcher({ settle: topUps.settle, observe: observeBatch });
  let isClosed = false;
  const settle = (item: SettlingItem) => {
    if (isClosed) return Promise.reject(new StoreUnavailable("the store is closed"));
    return settler === undefined ? batcher.add(item) : settler.settle(item);
  };
  return {
    provider,
    engine,
    reports: engine,
    reportsBehindMs: async () => undefined,
    findAccessToken: async (hash) => database.read(() => reference.findToken(hash)),
    checkoutSecrets: async () => database.read(() => reference.listSecrets()),
    currentCatalogue: async (environment, now) => database.read(() => reference.currentCatalogue(environment, now)),
    ...partnerReads(sqliteReader(database), provider),
    settleTopUp: (command) => settle({ kind: "top_up", command }) as Promise<SettledTopUp>,
    isOverloaded: () => (settler ?? batcher).isFull,
    // An interrupted commit may lie unseen at the end of the write-ahead log until SQLite recovers it. The write that
    // retires the checkout replaces it there.
    concludeCheckout: (checkoutId) => settle({ kind: "conclusion", checkoutId }) as Promise<Conclusion>,
    ...customerImports(importing, provider),

    async *check(): AsyncGenerator<CheckEvent> {
      const checked = new Database(path, { mustExist: true });
      try {
        yield* checkFile(checked, options);
        yield* checkStore(engine, provider.zone);
      } catch (error) {
        const translated = translate(error);
        if (!isDamage(translated)) throw translated;
        yield { kind: "wrong", what: `integrity: ${(translated as Error).message}` };
      } finally {
        checked.close();
      }
    },
    recordTokenUses: (uses) => recordTokenUses(engine, uses),
    recordRefusedCalls: (calls) => recordRefusedCalls(engine, calls),
    recordTrialCalls: (calls) => recordTrialCalls(engine, calls),
    shareLookUps: (...of) => shareLookUps(engine, ...of),
    practise: practiceCounter(engine),
    exportArchive: (writers, work) => exportArchive(engine, writers, work),
    importArchive: (chunks, pausing) => importArchive(engine, chunks, provider, pausing),

    ping: async () => database.ping(),
    space: async () => measureFile(path),
    /** Refuses new items. Resolves when nothing is being settled. */
    async close() {
      isClosed = true;
      await batcher.drained();
      await settler?.close();
      await importing.close();
      await engine.close();
      database.close();
    },
  };
}

/** Checks the file itself; `checkStore` checks its rows. */
function* checkFile(database: Database, migrating: Migrating): Generator<CheckEvent> {
  const faults = database.prepareRows<{ integrity_check: string }>("PRAGMA integrity_check")();
  const broken = faults.filter((fault) => fault.integrity_check !== "ok");
  for (const fault of broken) yield { kind: "wrong", what: `integrity: ${fault.integrity_check}` };
  const dangling = database.prepareRows<{ table: string }>("PRAGMA foreign_key_check")();
  for (const { table } of dangling) yield { kind: "wrong", what: `integrity: a row of ${table} refers to nothing` };
  if (broken.length + dangling.length === 0) yield { kind: "checked", what: "integrity of the file", count: 1 };
  database.verifyDurability();
  yield { kind: "checked", what: "durability: write-ahead log, synchronous=FULL", count: 1 };
  yield isSchemaExpected(database, migrating)
    ? { kind: "checked", what: "tables and triggers are those of this topupd", count: 1 }
    : { kind: "wrong", what: "tables or triggers are not those of this topupd" };
}

/** Whether tables, indexes and triggers equal those that the migrations create in an empty database. */
function isSchemaExpected(database: Database, migrating: Migrating): boolean {
  const expected = new DatabaseSync(":memory:");
  try {
    for (const { sql } of readMigrations("sqlite", migrating)) expected.exec(sql);
    return isDeepStrictEqual(readSchema(database), readSchema(expected));
  } finally {
    expected.close();
  }
}

function readSchema(database: Reader): unknown[] {
  // SQLite's own tables, such as the statistics of ANALYZE, do not count.
  const query = `SELECT type, name, sql FROM sqlite_schema
    WHERE sql IS NOT NULL AND name NOT GLOB 'sqlite_*' ORDER BY type, name`;
  return database.prepare(query).all();
}
