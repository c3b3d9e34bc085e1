import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  realpathSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type DatabaseSyncInstance } from "@photostructure/sqlite";
import { StoreRefused } from "../errors.ts";
import { cannotBeOpened, isBusy, translate } from "./error-translation.ts";

/** How long opening waits for another process that migrates or recovers the same file. */
const OPENING_TIMEOUT_MS = 5_000;
const OPENING_PAUSE_MS = 20;

/** Page cache of each connection: enough for the largest batch and the upper levels of the trees. */
const CACHE_KIB = 32 * 1024;

/**
 * Length of the write-ahead log after which a connection makes a checkpoint: 16 MiB. A page that was changed many times is
 * then written once. The settler makes checkpoints earlier, because others wait for it.
 */
export const CHECKPOINT_PAGES = 4_000;

/** How long to retry while another process has the file open for the same check. */
const TRYING_MS = 10;

/**
 * Rewrites and flushes a write-ahead log that a process has left, so that its commits are durable before topupd answers
 * with their data. Must be called before this process opens the file. A process that has the file open did the same.
 * @throws StoreRefused if the file cannot be opened.
 */
export function secureLeftLog(path: string): void {
  try {
    if (!existsSync(path)) return;
    // SQLite follows links too, and puts the log next to the file itself.
    const log = `${realpathSync(path)}-wal`;
    if (!isMissingOrEmpty(log)) withFileAlone(path, () => rewriteLog(log));
  } catch (error) {
    throw cannotBeOpened(path, error as Error);
  }
}

/** Runs `work` if no other process has the file open. */
function withFileAlone(path: string, work: () => void): void {
  const connection = new DatabaseSync(path, { timeout: TRYING_MS });
  try {
    connection.exec("PRAGMA locking_mode = EXCLUSIVE; SELECT 1 FROM sqlite_schema");
    work();
  } catch (error) {
    if (!isBusy(error)) throw error;
  } finally {
    connection.close();
  }
}

const CHUNK_BYTES = 1024 * 1024;

/**
 * Rewrites and flushes a write-ahead log that a process has left. SQLite recovers commits from it that were never flushed,
 * and a power cut would lose them and all later ones. A flush alone is not enough: the system counts pages as written
 * although an earlier flush failed. Must be called while no other process can write to the log.
 */
export function rewriteLog(log: string): void {
  const size = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0) return;
  const file = openSync(log, "r+");
  try {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    for (let at = 0; at < size; ) {
      const read = readSync(file, chunk, 0, CHUNK_BYTES, at);
      at += writeSync(file, chunk, 0, read, at);
    }
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Opens a file with write-ahead logging and durable commits, and creates it if it is missing.
 * @param mustExist refuses to create a new database.
 * @throws StoreRefused if the file is not a database, not topupd's, or cannot be written.
 */
export function openFile(path: string, mustExist: boolean): DatabaseSyncInstance {
  // SQLite itself does not wait if several processes switch a new file to write-ahead logging at once.
  for (let waited = 0; ; waited += OPENING_PAUSE_MS) {
    try {
      return tryToOpen(path, mustExist);
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (waited >= OPENING_TIMEOUT_MS) throw translate(error);
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, OPENING_PAUSE_MS);
  }
}

function tryToOpen(path: string, mustExist: boolean): DatabaseSyncInstance {
  let connection: DatabaseSyncInstance | undefined;
  try {
    const isNew = isMissingOrEmpty(path);
    if (isNew && mustExist) throw new StoreRefused(`there is no database at ${path}`);
    // Only the last folder is created: a path that is missing entirely is misspelt.
    if (isNew && !existsSync(dirname(path))) mkdirSync(dirname(path));
    if (!isNew) accessSync(path, constants.W_OK);
    connection = new DatabaseSync(path);
    // The file contains customers and secrets: other users of the machine must not read it.
    if (isNew) chmodSync(path, 0o600);
    refuseForeign(connection);
    connection.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;
      PRAGMA cache_size = -${CACHE_KIB}; PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    return connection;
  } catch (error) {
    connection?.close();
    if (error instanceof StoreRefused || isBusy(error)) throw error;
    throw cannotBeOpened(path, error as Error);
  }
}

function isMissingOrEmpty(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0;
}

export const NOT_TOPUPDS = "the file is a database, but not one of topupd";

/** Checks that the file is topupd's before it is changed. */
function refuseForeign(connection: DatabaseSyncInstance): void {
  const names = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as { name: string }[];
  if (names.length === 0 || names.some(({ name }) => name === "schema_migration")) return;
  throw new StoreRefused(NOT_TOPUPDS);
}
