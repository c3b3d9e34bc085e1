import type { ProviderWishes } from "../common/provider-settings.ts";
import type { Store } from "../store.ts";
import { ensureCheckoutSecret } from "./checkout-secrets.ts";
import { withOwnSession } from "./database.ts";
import { LOCK_OPENING } from "./locks.ts";
import { migrate } from "./migrate.ts";
import { PostgresStore, type PostgresStoreParts } from "./postgres-store.ts";
import { settleProviderSettings } from "./provider.ts";
import { BEGIN } from "./session.ts";
import { translateAtOpening } from "./trouble.ts";

export interface PostgresStoreOptions extends ProviderWishes, PostgresStoreParts {
  /** Refuses to make the tables, and to bring older ones up to date. */
  readonly mustExist?: boolean;
  readonly random: (bytes: number) => Uint8Array;
}

/**
 * Opens the store in PostgreSQL, and migrates it where needed. Safe from several processes at once.
 * @throws StoreRefused where topupd will not work with the database; the message says why.
 * @throws StoreUnavailable where it cannot be reached.
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { url, mustExist = false, clock } = options;
  try {
    const provider = await withOwnSession(url, "working", async (session) => {
      await session.runAll([[BEGIN], LOCK_OPENING]);
      await migrate(session, clock(), !mustExist);
      const settled = await settleProviderSettings(session, options);
      await ensureCheckoutSecret(session, options);
      await session.commit([]);
      return settled;
    });
    return new PostgresStore(options, provider);
  } catch (error) {
    throw translateAtOpening(error);
  }
}
