import { setTimeout } from "node:timers/promises";
import { StoreContended, StoreRefused } from "../errors.ts";
import { GUARD_COLUMNS } from "../guarded-accounts.ts";
import { ACCOUNT, CUSTOMER, isAsked, qualified } from "../table.ts";
import { TABLES } from "../tables.ts";
import { asked, textArray, withRows } from "./columns.ts";
import type { Database } from "./database.ts";
import { SERVING } from "./serving.ts";
import { BEGIN, type Prepared, type Query, type Session } from "./session.ts";

/*
 * Take several locks only in the order listed here. Locks with a number are advisory; only topupd uses these numbers.
 */

/** One process at a time creates or migrates the database. */
export const LOCK_OPENING = lock("lock_opening", 7_461_001);

/** How long to wait for sessions that are ending. */
const SERVED_WITHIN_MS = 2_000;
const SERVED_PAUSE_MS = 100;
const SERVED =
  "the database must be upgraded, and other processes use it: stop all services and commands of topupd first";

/**
 * Excludes processes that serve the database, until the end of the transaction.
 * @param applied the number of migrations that the database has.
 * @param mayServe the number of migrations that processes know which may go on.
 * @throws StoreRefused if others serve it.
 */
export async function excludeServing(
  session: Session,
  { applied, mayServe }: { readonly applied: number; readonly mayServe: number | undefined },
): Promise<void> {
  // A lock that is had already is granted again.
  const text = `SELECT version FROM generate_series(1, ${applied}) AS version
    WHERE NOT pg_try_advisory_xact_lock(${SERVING}, version)`;
  for (let waited = 0; ; waited += SERVED_PAUSE_MS) {
    const { rows } = await session.ask(text);
    if (rows.every(({ version }) => version === mayServe)) return;
    if (waited >= SERVED_WITHIN_MS) throw new StoreRefused(SERVED);
    await setTimeout(SERVED_PAUSE_MS);
  }
}
/** One transaction at a time changes partners, tokens, secrets, catalogues or settings. Their rows are numbered. */
export const LOCK_REFERENCE = lock("lock_reference", 7_461_002);
/** One transaction at a time imports customers: a new customer has no row to lock yet. */
export const LOCK_IMPORT = lock("lock_import", 7_461_003);

/**
 * A customer's row is the lock for all data of the customer. One statement locks several rows in the order of the key, so
 * that transactions cannot deadlock.
 */
export const LOCK_CUSTOMERS = withRows(
  {
    name: "customers_lock",
    text: `SELECT c.cuid, c.environment, c.status FROM ${asked(CUSTOMER)}
      JOIN customer AS c ON ${isAsked("c", TABLES.customer.key)} ORDER BY c.cuid, c.environment FOR NO KEY UPDATE OF c`,
  },
  CUSTOMER,
);

const RECORDING = 7_461_005;
/**
 * Excludes all recording while a checkout is concluded. A commit may wait for a standby or a hanging disk, and its top-up
 * stays invisible until then. A conclusion does not know the customer, so it cannot lock the customer's row instead.
 */
export const LOCK_RECORDING = lock("lock_recording", RECORDING);
/** Shared by all batches and corrections: their customers' rows are locked too. */
export const SHARE_RECORDING = sharedLock("share_recording", RECORDING);

/** The row of a guarded account is the lock for its balance. One statement locks several rows in the order of the key. */
export const LOCK_ACCOUNTS = withRows(
  {
    name: "accounts_lock",
    text: `SELECT ${qualified("a", [...TABLES.account.key, ...GUARD_COLUMNS])} FROM ${asked(ACCOUNT)}
      JOIN account AS a ON ${isAsked("a", TABLES.account.key)} ORDER BY a.partner_id, a.environment FOR NO KEY UPDATE OF a`,
  },
  ACCOUNT,
);

/** One transaction at a time appends to the audit trail: each entry contains the hash of the previous entry. */
export const LOCK_AUDIT = lock("lock_audit", 7_461_004);
/**
 * One transaction at a time writes events and commits. The events are then numbered in the order in which they become
 * visible, so that a reader that continues from a number misses none.
 */
export const LOCK_EVENTS = lock("lock_events", 7_461_006);
/**
 * The rows of `due` of a target. They are locked in the order of their keys, and inserted in that order, so that changes,
 * attempts and confirmations of the same rows cannot deadlock.
 */
export const LOCK_DUE = (targetId: number, subjects: readonly string[]): Query => ({
  name: "due_lock",
  text: "SELECT 1 FROM due WHERE target_id = $1 AND subject = ANY($2::text[]) ORDER BY subject FOR UPDATE",
  values: [targetId, textArray(subjects)],
});
/** One transaction at a time records refused calls or trial calls, which are numbered. It takes no other lock. */
export const LOCK_CALLS = lock("lock_calls", 7_461_007);

function lock(name: string, number: number): Prepared {
  return { name, text: `SELECT pg_advisory_xact_lock(${number})` };
}

function sharedLock(name: string, number: number): Prepared {
  return { name, text: `SELECT pg_advisory_xact_lock_shared(${number})` };
}

/** The transactions that hold a lock. */
function holders(name: string, number: number): Prepared {
  return {
    name,
    text: `SELECT virtualtransaction AS id, pid = pg_backend_pid() AS is_own FROM pg_locks
      JOIN pg_database AS d ON d.oid = database AND d.datname = current_database()
      WHERE locktype = 'advisory' AND classid = 0 AND objid = ${number} AND objsubid = 1 AND granted`,
  };
}

interface Holder {
  readonly id: string;
  readonly is_own: boolean;
}

/** Only shared, so it never makes anything wait. */
const SHOWN = 7_461_008;
const HIDDEN_LOCKS =
  "the server does not show in pg_locks the advisory locks that topupd takes: use PostgreSQL itself, and not another database that speaks its protocol";

/**
 * Takes a lock and checks that pg_locks shows it. Without working advisory locks, processes would not exclude each other.
 * @throws StoreRefused if the server does not show it.
 */
export async function refuseHiddenLocks(session: Session): Promise<void> {
  const [, , found = []] = await session.runAll([BEGIN, sharedLock("share_shown", SHOWN), holders("shown", SHOWN)]);
  await session.ask("ROLLBACK");
  if (!(found as Holder[]).some(({ is_own }) => is_own)) throw new StoreRefused(HIDDEN_LOCKS);
}

/** The transactions that record. They hold the lock until their writes are visible. */
const RECORDERS = holders("recorders", RECORDING);

/** Longer than any batch takes that does not wait for a lock. */
const COMMIT_PATIENCE_MS = 10_000;
const COMMIT_PAUSE_MS = 100;

/**
 * Resolves when all transactions that record now have ended. It polls instead of locking: a waiting lock would block all
 * later top-ups.
 */
export async function awaitCommits(database: Database): Promise<void> {
  let recorders = await database.ask<Holder>(RECORDERS);
  for (let waited = 0; recorders.length > 0; waited += COMMIT_PAUSE_MS) {
    if (waited >= COMMIT_PATIENCE_MS) throw new StoreContended(COMMIT_HANGS);
    await setTimeout(COMMIT_PAUSE_MS);
    const now = await database.ask<Holder>(RECORDERS);
    recorders = recorders.filter(({ id }) => now.some((other) => other.id === id));
  }
}

const COMMIT_HANGS =
  "a commit has been under way for 10 seconds: see in pg_stat_activity whether it waits for a standby or the disk, fix that, and try again";
