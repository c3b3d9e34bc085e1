import { ensureCheckoutSecret, type ProviderWishes, settleProvider } from "../settings.ts";
import type { Store } from "../store.ts";
import { Database } from "./database.ts";
import { createSqliteEngine } from "./engine.ts";
import { takeUpLog } from "./file.ts";
import { migrate } from "./migrate.ts";
import { SqliteStore, type SqliteStoreParts } from "./sqlite-store.ts";
import { translate } from "./trouble.ts";

export interface SqliteStoreOptions extends ProviderWishes, SqliteStoreParts {
  /** Refuses to make a new database, and to bring an older one up to date. */
  readonly mustExist?: boolean;
  readonly random: (bytes: number) => Uint8Array;
}

/**
 * Opens the embedded store, and migrates it where needed.
 * @throws StoreRefused where topupd will not work with the file; the message says why.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { path, clock, mustExist = false } = options;
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
    const store = new SqliteStore(database, engine, provider, options);
    await store.ready();
    return store;
  } catch (error) {
    await engine.close();
    database.close();
    throw translate(error);
  }
}
