import type { ProviderWishes } from "../common/provider-settings.ts";
import type { ObserveCheckpoints, Store } from "../store.ts";
import { Database } from "./database.ts";
import { migrate } from "./migrate.ts";
import { settleProviderSettings } from "./provider.ts";
import type { SettlerParts } from "./settling/settler.ts";
import { SqliteStore } from "./sqlite-store.ts";
import { ensureCheckoutSecret } from "./tables/checkout-secrets.ts";
import { translate } from "./trouble.ts";

export interface SqliteStoreOptions extends ProviderWishes, SettlerParts {
  /** Refuses to make a new database, and to bring an older one up to date. */
  readonly mustExist?: boolean;
  readonly random: (bytes: number) => Uint8Array;
}

/**
 * Opens the embedded store, and migrates it where needed.
 * @throws StoreRefused where topupd will not work with the file; the message says why.
 */
export function openSqliteStore(options: SqliteStoreOptions): Store {
  const { path, mustExist = false } = options;
  const observeCheckpoints = changesAlone(options.observeCheckpoints);
  const database = new Database(path, { mustExist, observeCheckpoints });
  try {
    migrate(database, options.clock(), { mayApply: !mustExist });
    const provider = settleProviderSettings(database, options, options.clock());
    ensureCheckoutSecret(database, options);
    database.opened();
    return new SqliteStore(database, provider, { ...options, observeCheckpoints });
  } catch (error) {
    database.close();
    throw translate(error);
  }
}

/** Hears of every checkpoint, and tells what was not so of the one before. At first, all is well. */
function changesAlone(observe: ObserveCheckpoints = () => {}): ObserveCheckpoints {
  let last: string | undefined;
  return (trouble) => {
    if (trouble === last) return;
    last = trouble;
    observe(trouble);
  };
}
