import type { ProviderWishes } from "../settings.ts";
import { ensureCheckoutSecret, settleProvider } from "../settings.ts";
import type { Store } from "../store.ts";
import { createPostgresEngine } from "./engine.ts";
import { migrate } from "./migrate.ts";
import { PostgresStore, type PostgresStoreOptions } from "./postgres-store.ts";
import { Database, withOwnSession } from "./session/database.ts";
import { refuseSharedBackends } from "./session/pooler.ts";
import { translateAtOpening } from "./session/trouble.ts";

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
  let store: PostgresStore | undefined;
  const engine = createPostgresEngine({ url, database: office, changed: () => store?.forget() });
  try {
    await withOwnSession(url, async (session, client) => {
      await refuseSharedBackends(client, url);
      await migrate(session, clock(), !mustExist);
    });
    const provider = await settleProvider(engine, options);
    await ensureCheckoutSecret(engine, options);
    store = new PostgresStore(options, { office, engine, provider });
    return store;
  } catch (error) {
    await office.close();
    throw translateAtOpening(error);
  }
}
