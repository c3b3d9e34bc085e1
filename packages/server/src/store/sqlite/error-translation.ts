import { StoreRefused, StoreUnavailable } from "../errors.ts";

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
