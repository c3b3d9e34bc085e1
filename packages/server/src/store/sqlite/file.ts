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
  statfsSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type DatabaseSyncInstance } from "@photostructure/sqlite";
import { StoreRefused, StoreUnavailable } from "../errors.ts";
import type { Space } from "../store.ts";

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

/** Measures the file, its write-ahead log and its disk. @throws StoreUnavailable */
export function measureFile(path: string): Space {
  try {
    const file = realpathSync(path);
    const { bavail, bsize } = statfsSync(dirname(file));
    const log = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    return { database: statSync(file).size, log, free: bavail * bsize };
  } catch (error) {
    throw new StoreUnavailable(`the file cannot be measured: ${(error as Error).message}`);
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

const SQLITE_BUSY = 5;
const DISK_FAILED = 10;
const DAMAGED = 11;
const NO_DATABASE = 26;

/** Primary result codes that concern the disk, the memory or the file, and not the statement. */
const UNAVAILABLE = new Map([
  [SQLITE_BUSY, "another process holds the database"],
  [6, "locked"],
  [7, "out of memory"],
  [8, "the file is read-only"],
  [DISK_FAILED, "disk input or output failed: check the disk first, the file need not be damaged"],
  // SQLite reports the same if the disk fails to read (EIO).
  [DAMAGED, "the file is damaged, or the disk cannot read it: check the disk first"],
  [13, "the disk is full"],
  [14, "the file cannot be opened"],
  [15, "the lock protocol failed"],
  [NO_DATABASE, "the file is no database any more"],
]);

/** SQLite's messages for some of them: an error during the reading of rows has no code. */
const CODES = new Map([
  ["database is locked", SQLITE_BUSY],
  ["disk I/O error", DISK_FAILED],
  ["database disk image is malformed", DAMAGED],
  ["database or disk is full", 13],
  ["unable to open database file", 14],
  ["file is not a database", NO_DATABASE],
]);

/** The error for an operator whose file cannot be opened. */
export function cannotBeOpened(path: string, error: Error): StoreRefused {
  const code = "code" in error && error.code === "EIO" ? DISK_FAILED : errorCode(error);
  const why = code === DISK_FAILED || code === DAMAGED ? UNAVAILABLE.get(code) : error.message;
  return new StoreRefused(`${path} cannot be opened as a database: ${why}`, { cause: error });
}

export function isBusy(error: unknown): boolean {
  return errorCode(error) === SQLITE_BUSY;
}

/** Translates errors of the database itself to StoreUnavailable. Other errors are defects of topupd. */
export function translate(error: unknown): unknown {
  const reason = UNAVAILABLE.get(errorCode(error) ?? 0);
  return reason === undefined ? error : new StoreUnavailable(reason, { cause: error });
}

/** The reason why a checkpoint failed. Messages of other errors are not logged, because they may quote stored data. */
export function checkpointFailure(error: unknown): string {
  const translated = translate(error);
  return translated instanceof StoreUnavailable ? translated.message : "SQLite has failed";
}

/** Whether an error, translated or not, means that the file is damaged. */
export function isDamage(error: unknown): boolean {
  const code = errorCode(error instanceof StoreUnavailable ? error.cause : error);
  return code === DAMAGED || code === NO_DATABASE;
}

/** The primary result code: the low byte of the extended one. */
function errorCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  const extended = "errcode" in error ? error.errcode : CODES.get(error.message);
  return typeof extended === "number" ? extended & 0xff : undefined;
}
