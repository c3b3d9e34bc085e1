import type { SettledTopUp } from "../../domain/top-up.ts";
import type { Instant } from "../../domain/wall-time.ts";
import { recordTokenUses } from "../access.ts";
import { exportArchive } from "../archive.ts";
import { importArchive } from "../archive-filling.ts";
import { recordAttempts } from "../attempts.ts";
import { Batcher } from "../batcher.ts";
import { checkStore } from "../check.ts";
import { StoreUnavailable } from "../errors.ts";
import { ensureCheckoutSecret, type ProviderWishes, settleProvider } from "../settings.ts";
import type { SettlingItem } from "../settling.ts";
import type { CheckEvent, Conclusion, ObserveBatch, ProviderSettings, Store } from "../store.ts";
import { customerImports } from "./customer-imports.ts";
import { customerTables } from "./customers.ts";
import { Database } from "./database.ts";
import { createSqliteEngine, type SqliteEngine } from "./engine.ts";
import { isDamage, translate } from "./error-translation.ts";
import { takeUpLog } from "./file.ts";
import { SqliteReferenceCache } from "./reference-cache.ts";
import { checkFile, migrate } from "./schema.ts";
import { SettlerClient } from "./settling/settler-client.ts";
import { topUpTables } from "./top-ups.ts";

export interface SqliteStoreOptions extends ProviderWishes {
  readonly path: string;
  readonly clock: () => Instant;
  readonly random: (bytes: number) => Uint8Array;
  readonly observeBatch?: ObserveBatch | undefined;
  /** The socket of the settler, for a process of a service; commands settle by themselves. */
  readonly settlerSocket?: string | undefined;
}

/**
 * Opens the embedded store, and migrates it where needed. What must exist is neither made nor migrated.
 * @throws StoreRefused where topupd will not work with the file; the message says why.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { path, clock, settlerSocket, mustExist = false } = options;
  takeUpLog(path);
  const database = new Database(path, { mustExist });
  const engine = createSqliteEngine({
    connect: () => new Database(path, { mustExist: true }),
    committed: () => database.seeAnew(),
  });
  try {
    await migrate(database, clock(), !mustExist);
    const provider = await settleProvider(engine, options);
    await ensureCheckoutSecret(engine, options);
    // Whoever is answered may ask at once, and is to see what was settled.
    const onSettled = () => database.seeAnew();
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

interface SqliteStoreParts {
  readonly database: Database;
  /** For what staff ask and change, on a connection of its own. */
  readonly engine: SqliteEngine;
  readonly provider: ProviderSettings;
  readonly settler: SettlerClient | undefined;
}

function createSqliteStore(options: SqliteStoreOptions, parts: SqliteStoreParts): Store {
  const { path, clock, observeBatch } = options;
  const { database, engine, provider, settler } = parts;
  const reference = new SqliteReferenceCache(database, provider);
  const customers = customerTables(database, provider);
  const topUps = topUpTables({ database, provider, clock, customers, reference });
  const batcher = new Batcher({ settle: topUps.settle, observe: observeBatch });
  let isClosed = false;
  const settle = (item: SettlingItem) => {
    if (isClosed) return Promise.reject(new StoreUnavailable("the store is closed"));
    return settler === undefined ? batcher.add(item) : settler.settle(item);
  };
  // Made when it is first asked for: a service that serves partners has no use for its statements.
  let madeImports: ReturnType<typeof customerImports> | undefined;
  const imports = () => {
    madeImports ??= customerImports(database, provider);
    return madeImports;
  };
  return {
    provider,
    engine,
    findAccessToken: async (hash) => database.read(() => reference.findToken(hash)),
    checkoutSecrets: async () => database.read(() => reference.listSecrets()),
    currentCatalogue: async (environment) => database.read(() => reference.currentCatalogue(environment)),
    lookUpCustomers: async (environment, code) => database.read(() => customers.lookUp(environment, code)),
    findConnection: async (key) => database.read(() => customers.findConnection(key)),
    settleTopUp: (command) => settle({ kind: "top_up", command }) as Promise<SettledTopUp>,
    isOverloaded: () => (settler ?? batcher).isFull,
    // A commit that a crash or a failing disk interrupted may lie at the end of the write-ahead log, unseen, until SQLite
    // recovers it. The write that retires the checkout takes its place there.
    concludeCheckout: (checkoutId) => settle({ kind: "conclusion", checkoutId }) as Promise<Conclusion>,
    // Once recorded, always recorded; that it is not must hold for all that was answered by now.
    findTransaction: async (checkoutId) =>
      database.read(() => topUps.find(checkoutId)) ?? database.ask(() => topUps.find(checkoutId)),
    findOutcome: async (checkoutId) =>
      database.read(() => topUps.find(checkoutId)) ?? database.ask(() => topUps.findOutcome(checkoutId)),

    importCustomers: async (...args) => imports().importCustomers(...args),
    confirmCustomers: async (...args) => imports().confirmCustomers(...args),
    previewCustomers: async (...args) => imports().previewCustomers(...args),

    async *check(): AsyncGenerator<CheckEvent> {
      const checked = new Database(path, { mustExist: true });
      try {
        yield* checkFile(checked);
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
    recordAttempts: (attempts) => recordAttempts(engine, attempts),
    exportArchive: (writers, work) => exportArchive(engine, writers, work),
    importArchive: (chunks, pausing) => importArchive(engine, chunks, provider, pausing),

    ping: async () => database.ping(),
    /** Nothing is taken from now on. Resolves once nothing is being settled. */
    async close() {
      isClosed = true;
      await batcher.drained();
      await settler?.close();
      await engine.close();
      database.close();
    },
  };
}
