import { StoreRefused, StoreUnavailable } from "../errors.ts";

const SQLITE_BUSY = 5;
const DISK_FAILED = 10;

/** The primary result codes that speak of the disk, the memory or the file, and not of the statement. */
const AWAY = new Map([
  [SQLITE_BUSY, "another process holds the database"],
  [6, "locked"],
  [7, "out of memory"],
  [8, "the file is read-only"],
  [DISK_FAILED, "disk input or output failed"],
  [11, "the file is damaged"],
  [13, "the disk is full"],
  [14, "the file cannot be opened"],
  [15, "the lock protocol failed"],
  [26, "the file is no database any more"],
]);

/** SQLite's own words for some of these: errors met while rows are read carry no code. */
const CODES = new Map([
  ["database is locked", SQLITE_BUSY],
  ["disk I/O error", DISK_FAILED],
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

/** Why the log could not be written into the file. Other errors' own words may quote what is nobody's business. */
export function checkpointTrouble(error: unknown): string {
  const translated = translate(error);
  return translated instanceof StoreUnavailable ? translated.message : "SQLite has failed";
}

/** The file is damaged, or is none of SQLite's any more. */
const DAMAGED = [11, 26];
/** What became of a disk that failed: a page was not to be read, or only a part of it, or is not as the disk wrote it. */
const UNREADABLE = [1, 2, 32, 33].map((detail) => DISK_FAILED | (detail << 8));

/** Whether an error met in reading speaks of the file, and not of whoever would read it. */
export function isDamage(error: unknown): boolean {
  const code = extendedCode(error) ?? 0;
  // Without a detail it was met while rows were read.
  return DAMAGED.includes(code & 0xff) || UNREADABLE.includes(code) || code === DISK_FAILED;
}

/** The primary result code: the low byte of the extended one. */
function errorCode(error: unknown): number | undefined {
  const extended = extendedCode(error);
  return extended === undefined ? undefined : extended & 0xff;
}

function extendedCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = "errcode" in error ? error.errcode : CODES.get(error.message);
  return typeof code === "number" ? code : undefined;
}
