import { setTimeout } from "node:timers/promises";
import { StoreContended, StoreRefused } from "../../errors.ts";
import { asked, isAsked, withRows } from "../tables/columns.ts";
import type { Database } from "./database.ts";
import { BEGIN, type Prepared, type Session } from "./session.ts";

/*
 * Whoever takes several locks takes them in the order in which they stand here. Those with a number are advisory; it means
 * something in topupd alone.
 */

/** One process at a time makes or migrates the database. */
export const LOCK_OPENING = lock("lock_opening", 7_461_001);
/** One transaction at a time changes partners, tokens, secrets, catalogues or settings: few do, and rows are numbered. */
export const LOCK_REFERENCE = lock("lock_reference", 7_461_002);
/** One transaction at a time imports customers: new ones have no row yet that could be locked. */
export const LOCK_IMPORT = lock("lock_import", 7_461_003);

const CUSTOMER_KEY = ["cuid", "environment"] as const;
/**
 * A customer's row is the lock of all that is recorded for the customer. Several are locked by one statement, in the order
 * of the key, so that no two transactions ever wait for each other.
 */
export const LOCK_CUSTOMERS = withRows(
  {
    name: "customers_lock",
    text: `SELECT c.cuid, c.environment, c.status FROM ${asked(CUSTOMER_KEY)}
      JOIN customer AS c ON ${isAsked("c", CUSTOMER_KEY)} ORDER BY c.cuid, c.environment FOR NO KEY UPDATE OF c`,
  },
  CUSTOMER_KEY,
);

const RECORDING = 7_461_005;
/**
 * A checkout is concluded while nobody records: a commit that waits for a standby, or for a disk that stands still, is on
 * record once that is over, and until then nobody sees what it wrote. It does not say whose checkout it is, so no
 * customer's row tells the two apart.
 */
export const LOCK_RECORDING = lock("lock_recording", RECORDING);
/** Any number of batches and corrections record at a time: each holds its customers. */
export const SHARE_RECORDING = sharedLock("share_recording", RECORDING);

/** One transaction at a time appends to the audit trail: each entry follows from the one before it. */
export const LOCK_AUDIT = lock("lock_audit", 7_461_004);
/**
 * One transaction at a time writes events and commits: they are numbered in the order in which others see them, so that
 * who reads on from a number misses none.
 */
export const LOCK_EVENTS = lock("lock_events", 7_461_006);
/** One transaction at a time notes refused calls, which are numbered. It takes no other lock. */
export const LOCK_ATTEMPTS = lock("lock_attempts", 7_461_007);

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

/** Nobody takes it alone, so nobody waits for it. */
const SHOWN = 7_461_008;
const HIDDEN_LOCKS =
  "the server does not show in pg_locks the advisory locks that topupd takes: use PostgreSQL itself, and not another database that speaks its protocol";

/**
 * Takes a lock and looks for it. Without advisory locks, several processes could record at a time what only one may.
 * @throws StoreRefused if the server does not show it.
 */
export async function refuseHiddenLocks(session: Session): Promise<void> {
  const [, , found = []] = await session.runAll([BEGIN, sharedLock("share_shown", SHOWN), holders("shown", SHOWN)]);
  await session.ask("ROLLBACK");
  if (!(found as Holder[]).some(({ is_own }) => is_own)) throw new StoreRefused(HIDDEN_LOCKS);
}

/** The transactions that record. They hold the lock until others see what they wrote. */
const RECORDERS = holders("recorders", RECORDING);

/** Longer than any batch takes that waits for nobody. */
const COMMIT_PATIENCE_MS = 10_000;
const COMMIT_PAUSE_MS = 100;

/**
 * Resolves once those who record now have done so. It asks instead of locking: whoever waits for a lock holds up all
 * top-ups that come after it.
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
  "a commit has been under way for 10 seconds: see in pg_stat_activity whether it waits for a standby or the disk, mend that, and try again";
