import type { ProviderWishes } from "../common/provider-settings.ts";
import { StoreContended, StoreUnavailable } from "../errors.ts";
import type { ProviderSettings, Store } from "../store.ts";
import { isMigrated, migrate } from "./migrate.ts";
import { PostgresStore, type PostgresStoreParts } from "./postgres-store.ts";
import { findProviderSettings, ONE_VIEW, settleProviderSettings } from "./provider.ts";
import { withOwnSession } from "./session/database.ts";
import { LOCK_OPENING } from "./session/locks.ts";
import { within } from "./session/patience.ts";
import { BEGIN, type Session, WAITS } from "./session/session.ts";
import { translateAtOpening } from "./session/trouble.ts";
import { ensureCheckoutSecret, listSecrets } from "./tables/checkout-secrets.ts";

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
  try {
    const provider = await withOwnSession(options.url, "opening", (session) => findOrSettle(session, options));
    return new PostgresStore(options, provider);
  } catch (error) {
    throw translateAtOpening(error);
  }
}

async function findOrSettle(session: Session, options: PostgresStoreOptions): Promise<ProviderSettings> {
  const found = await findSettled(session, options);
  if (found?.areRulesNoted === true) return found.provider;
  try {
    return await settle(session, options);
  } catch (error) {
    // Rules that cannot be noted now, on a standby for one, are noted when the database is opened next.
    if (found === undefined) throw error;
    return found.provider;
  }
}

/**
 * What is settled once and for all. Takes no lock and writes nothing, so that it needs neither a standby nor a database
 * that takes writes, and waits for nobody.
 * @returns undefined where something is still to be settled.
 */
async function findSettled(session: Session, options: PostgresStoreOptions) {
  const find = async () => {
    await session.runAll([[BEGIN], ONE_VIEW]);
    if (!(await isMigrated(session))) return undefined;
    const found = await findProviderSettings(session, options, options.clock());
    return (await listSecrets(session)).length === 0 ? undefined : found;
  };
  const found = await within(WAITS.opening, find(), "PostgreSQL has not answered for a minute");
  await session.rollBack();
  return found;
}

/** Everything is read once more: another process may have settled it meanwhile. */
async function settle(session: Session, options: PostgresStoreOptions): Promise<ProviderSettings> {
  const { mustExist = false, clock } = options;
  await within(WAITS.opening, lock(session), "PostgreSQL has not answered for a minute");
  await migrate(session, clock(), !mustExist);
  const settled = await settleProviderSettings(session, options, clock());
  await ensureCheckoutSecret(session, options);
  await within(
    WAITS.opening,
    session.commit([]),
    "PostgreSQL has not confirmed for a minute what was written: if it waits for a synchronous standby, pg_stat_activity shows SyncRep as wait_event",
  );
  return settled;
}

async function lock(session: Session): Promise<void> {
  try {
    await session.runAll([[BEGIN], LOCK_OPENING]);
  } catch (cause) {
    if (!(cause instanceof StoreContended)) throw cause;
    const why = "another topupd has been making or migrating the database for a minute: see pg_stat_activity";
    throw new StoreUnavailable(why, { cause });
  }
}
