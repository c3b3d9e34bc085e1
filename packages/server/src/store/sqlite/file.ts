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

/** Of pages in memory, for each connection: enough that no batch spills, and that the upper levels of the trees stay. */
const CACHE_KIB = 32 * 1024;

/**
 * Of the log, after which a connection has SQLite write it into the file: 16 MiB. A page that was changed many times is then
 * written once. The settler writes earlier, for it has others waiting.
 */
export const CHECKPOINT_PAGES = 4_000;

/** How long others are tried past that have the file open only to find out whether anybody else has. */
const TRYING_MS = 10;

/**
 * Writes and flushes the log anew that a process may have left, and has its commits in the file: only then is what it holds
 * answered. To be called before this process opens the file. Whoever has it open did the same before.
 * @throws StoreRefused where the file cannot be opened.
 */
export function takeUpLog(path: string): void {
  try {
    if (!existsSync(path)) return;
    // SQLite, too, follows links, and has the log beside the file itself.
    const log = `${realpathSync(path)}-wal`;
    if (!isMissingOrEmpty(log)) withFileAlone(path, () => writeLogAnew(log));
  } catch (error) {
    throw cannotBeOpened(path, error as Error);
  }
}

/** Runs `work` where nobody has the file open. */
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
 * Writes again, and flushes, the log that a process has left. SQLite takes up commits from it that no flush has reached,
 * and a power cut would take them and whatever is logged after them. A flush by itself is not enough: what an earlier one
 * failed to write, the system takes for written. To be called while nobody else can write to it.
 */
export function writeLogAnew(log: string): void {
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
 * Opens a file with write-ahead logging and durable commits, and makes it where it may be made.
 * @param mustExist refuses to make a new database.
 * @throws StoreRefused where the file is no database, not topupd's, or cannot be written.
 */
export function openFile(path: string, mustExist: boolean): DatabaseSyncInstance {
  // SQLite does not wait for others by itself where several put a new file into write-ahead logging at once.
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
    // The last folder, and no more: a whole path that is missing is a path that is misspelt.
    if (isNew && !existsSync(dirname(path))) mkdirSync(dirname(path));
    if (!isNew) accessSync(path, constants.W_OK);
    connection = new DatabaseSync(path);
    // It holds customers and a secret: no business of other users of the machine.
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

/** Before anything is changed in it. */
function refuseForeign(connection: DatabaseSyncInstance): void {
  const names = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as { name: string }[];
  if (names.length === 0 || names.some(({ name }) => name === "schema_migration")) return;
  throw new StoreRefused(NOT_TOPUPDS);
}
