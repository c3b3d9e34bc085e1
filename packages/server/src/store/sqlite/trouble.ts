import { StoreRefused, StoreUnavailable } from "../errors.ts";

const SQLITE_BUSY = 5;

/** The primary result codes that speak of the disk, the memory or the file, and not of the statement. */
const AWAY = new Map([
  [SQLITE_BUSY, "another process holds the database"],
  [6, "locked"],
  [7, "out of memory"],
  [8, "the file is read-only"],
  [10, "disk input or output failed"],
  [11, "the file is damaged"],
  [13, "the disk is full"],
  [14, "the file cannot be opened"],
  [15, "the lock protocol failed"],
  [26, "the file is no database any more"],
]);

/** SQLite's own words for some of these: errors met while rows are read carry no code. */
const CODES = new Map([
  ["database is locked", SQLITE_BUSY],
  ["disk I/O error", 10],
  ["database disk image is malformed", 11],
  ["database or disk is full", 13],
  ["unable to open database file", 14],
  ["file is not a database", 26],
]);

/** For the operator who has just said where the file is. */
export function cannotBeOpened(path: string, error: Error): StoreRefused {
  return new StoreRefused(`${path} cannot be opened as a database: ${error.message}`, { cause: error });
}

export function isBusy(error: unknown): boolean {
  return errorCode(error) === SQLITE_BUSY;
}

/** Tells what is wrong with the database from what is wrong with a statement, which is a defect of topupd. */
export function translate(error: unknown): unknown {
  const reason = AWAY.get(errorCode(error) ?? 0);
  return reason === undefined ? error : new StoreUnavailable(reason, { cause: error });
}

/** The primary result code: the low byte of the extended one. */
function errorCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  const extended = "errcode" in error ? error.errcode : CODES.get(error.message);
  return typeof extended === "number" ? extended & 0xff : undefined;
}
