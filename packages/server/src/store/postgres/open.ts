import { customerDigestIn } from "../../domain/checkout.ts";
import type { SettledTopUp } from "../../domain/top-up.ts";
import type { Instant } from "../../domain/wall-time.ts";
import { recordTokenUses } from "../access.ts";
import { exportArchive } from "../archive.ts";
import { importArchive } from "../archive-filling.ts";
import { recordAttempts } from "../attempts.ts";
import { Batcher } from "../batcher.ts";
import { checkStore } from "../check.ts";
import type { Engine } from "../engine.ts";
import { ensureCheckoutSecret, type ProviderWishes, settleProvider } from "../settings.ts";
import type { CheckEvent, Conclusion, ObserveBatch, ProviderSettings, Store } from "../store.ts";
import { createPostgresEngine, kyselyOn } from "./engine.ts";
import { PostgresReferenceCache } from "./reference-cache.ts";
import { migrate, refuseSharedBackends } from "./schema.ts";
import { Database, withOwnSession } from "./session/database.ts";
import { translateAtOpening } from "./session/error-translation.ts";
import { refuseHiddenLocks } from "./session/locks.ts";
import type { Prepared } from "./session/session.ts";
import { customerImports } from "./tables/customer-imports.ts";
import { customerTables } from "./tables/customers.ts";
import { topUpTables } from "./tables/top-ups.ts";

export interface PostgresStoreOptions extends ProviderWishes {
  /** postgres://USER:PASSWORD@HOST:PORT/DATABASE, with the options that the driver knows. */
  readonly url: string;
  /** How many sessions serve partners at a time. */
  readonly connections: number;
  readonly clock: () => Instant;
  readonly random: (bytes: number) => Uint8Array;
  readonly observeBatch?: ObserveBatch | undefined;
}

/** Beside those that serve partners. */
const OFFICE_CONNECTIONS = 2;

/**
 * Opens the store in PostgreSQL, and migrates it where needed. Safe from several processes at once; what is settled is
 * opened without a write, or a lock for which anybody waits. What must exist is neither made nor migrated.
 * @throws StoreRefused where topupd will not work with the database; the message says why.
 * @throws StoreUnavailable where it cannot be reached.
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { url, clock, mustExist = false } = options;
  const office = new Database({ url, connections: OFFICE_CONNECTIONS, purpose: "office" });
  let reference: PostgresReferenceCache | undefined;
  const engine = createPostgresEngine({ url, database: office, changed: () => reference?.forget() });
  try {
    await withOwnSession(url, async (session, client) => {
      await refuseSharedBackends(client, url);
      await refuseHiddenLocks(session);
      await migrate(session, clock(), !mustExist);
    });
    const provider = await settleProvider(engine, options);
    await ensureCheckoutSecret(engine, options);
    const serving = new Database({ url, connections: options.connections, purpose: "serving" });
    reference = new PostgresReferenceCache(
      url,
      kyselyOn((ask) => serving.withSession(ask)),
      provider,
    );
    return createPostgresStore(options, { office, serving, engine, provider, reference });
  } catch (error) {
    await office.close();
    throw translateAtOpening(error);
  }
}

/** While PostgreSQL works on one batch, this process makes the next ready, and the disk takes a third. */
const CONCURRENCY = { maxBatches: 4, worthwhile: 16 } as const;
/** Of the connections, for look-ups: batches that are held up must not take all. */
const SPARE_CONNECTIONS = 1;

const PING: Prepared = { name: "ping", text: "SELECT 1" };
const DURABILITY: Prepared = {
  name: "durability",
  text: `SELECT current_setting('synchronous_commit') AS commit,
    current_setting('full_page_writes') AS pages`,
};

interface PostgresStoreParts {
  /** For staff. */
  readonly office: Database;
  /** For partners' requests and imports. */
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
    settle: topUps.settle,
    observe: options.observeBatch,
    concurrency: {
      ...CONCURRENCY,
      maxBatches: Math.max(1, Math.min(CONCURRENCY.maxBatches, connections - SPARE_CONNECTIONS)),
      lane: (item) => customerDigestIn(item.kind === "top_up" ? item.command.checkoutId : item.checkoutId),
    },
  });
  const checkDurability = async (): Promise<CheckEvent> => {
    const [found] = await office.ask<{ commit: string; pages: string }>(DURABILITY);
    if (found?.pages !== "on")
      return { kind: "wrong", what: "durability: full_page_writes=off, which only a few file systems make up for" };
    return { kind: "checked", what: `durability: fsync=on, synchronous_commit=${found.commit}`, count: 1 };
  };
  return {
    provider,
    engine,
    ...customerTables(serving, provider),
    ...customerImports(serving, engine, provider),
    findTransaction: topUps.findTransaction,
    findOutcome: topUps.findOutcome,
    settleTopUp: (command) => batcher.add({ kind: "top_up", command }) as Promise<SettledTopUp>,
    isOverloaded: () => batcher.isFull,
    concludeCheckout: (checkoutId) => batcher.add({ kind: "conclusion", checkoutId }) as Promise<Conclusion>,

    findAccessToken: (hash) => reference.findToken(hash),
    checkoutSecrets: () => reference.listSecrets(),
    currentCatalogue: (environment) => reference.currentCatalogue(environment),

    async *check() {
      yield await checkDurability();
      yield* checkStore(engine, provider.zone);
    },
    recordTokenUses: (uses) => recordTokenUses(engine, uses),
    recordAttempts: (attempts) => recordAttempts(engine, attempts),
    exportArchive: (writers, work) => exportArchive(engine, writers, work),
    importArchive: (chunks, pausing) => importArchive(engine, chunks, provider, pausing),

    async ping() {
      await serving.ask(PING);
    },
    async close() {
      await batcher.drained();
      await reference.close();
      await Promise.all([serving.close(), office.close()]);
    },
  };
}
