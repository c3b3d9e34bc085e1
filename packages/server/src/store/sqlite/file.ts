import { accessSync, chmodSync, constants, existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type DatabaseSyncInstance } from "@photostructure/sqlite";
import { StoreRefused } from "../errors.ts";
import type { ObserveCheckpoints } from "../store.ts";
import type { FileIdentities } from "./file-watch.ts";
import { OpenElsewhere, refuseOtherNames } from "./other-names.ts";
import { cannotBeOpened, isBusy, translate } from "./trouble.ts";

/** How long opening waits for another process that migrates or recovers the same file. */
const OPENING_TIMEOUT_MS = 5_000;
const OPENING_PAUSE_MS = 20;

/** Of pages in memory, for each process: enough that no batch spills, and that the upper levels of the trees stay. */
export const CACHE_KIB = 32 * 1024;

/**
 * Of the log, after which a command has SQLite write it into the file: 16 MiB. A page that was changed many times is then
 * written once. A service writes earlier, for it has others waiting.
 */
export const CHECKPOINT_PAGES = 4_000;

export interface OpenOptions {
  /** Refuses to make a new database. */
  readonly mustExist: boolean;
  /** Those that another connection of this process has open: no others are taken for them. */
  readonly files?: FileIdentities;
  /** Hears why the log cannot be written into the file as the connection is closed. */
  readonly observeCheckpoints?: ObserveCheckpoints | undefined;
}

/**
 * Opens a file with write-ahead logging and durable commits, and makes it where it may be made.
 * @throws StoreRefused where the file is no database, not topupd's, or cannot be written.
 */
export function openFile(path: string, options: OpenOptions): DatabaseSyncInstance {
  // SQLite does not wait for others by itself where several put a new file into write-ahead logging at once.
  for (let waited = 0; ; waited += OPENING_PAUSE_MS) {
    try {
      return tryToOpen(path, options);
    } catch (error) {
      const mayPass = isBusy(error) || error instanceof OpenElsewhere;
      if (!mayPass || waited >= OPENING_TIMEOUT_MS) throw isBusy(error) ? translate(error) : error;
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, OPENING_PAUSE_MS);
  }
}

function tryToOpen(path: string, { mustExist, files }: OpenOptions): DatabaseSyncInstance {
  let connection: DatabaseSyncInstance | undefined;
  try {
    const isNew = isMissingOrEmpty(path);
    if (isNew && mustExist) throw new StoreRefused(`there is no database at ${path}`);
    if (isNew) makeFolder(dirname(path));
    else accessSync(path, constants.W_OK);
    if (files === undefined && existsSync(path)) refuseOtherNames(path);
    connection = new DatabaseSync(path);
    // It holds customers and a secret: no business of other users of the machine.
    if (isNew) chmodSync(path, 0o600);
    refuseForeign(connection);
    connection.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;");
    connection.exec(
      `PRAGMA busy_timeout = ${OPENING_TIMEOUT_MS}; PRAGMA cache_size = -${CACHE_KIB}; PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`,
    );
    // From its first look on, a connection has the log open too, and what tells where in the log everything is.
    connection.exec("SELECT 1 FROM sqlite_schema");
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

/** The last folder of a path, and no more: a whole path that is missing is a path that is misspelt. */
function makeFolder(path: string): void {
  if (!existsSync(path)) mkdirSync(path);
}

/** Before anything is changed in it. */
function refuseForeign(connection: DatabaseSyncInstance): void {
  const names = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as { name: string }[];
  if (names.length === 0 || names.some(({ name }) => name === "schema_migration")) return;
  throw new StoreRefused("the file is a database, but not one of topupd");
}
