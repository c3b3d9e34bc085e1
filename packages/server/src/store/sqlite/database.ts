import { chmodSync, existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type DatabaseSyncInstance, type StatementSyncInstance } from "@photostructure/sqlite";
import { StoreRefused, StoreUnavailable } from "../errors.ts";

/** How long opening waits for another process that migrates or recovers the same file. */
const OPENING_TIMEOUT_MS = 5_000;
/** How long a write is tried again before the caller is told that the store is away. */
const PATIENCE_MS = 5_000;
const LONGEST_PAUSE_MS = 20;

const SYNCHRONOUS_FULL = 2;
const SQLITE_BUSY = 5;
/** The primary result codes that speak of the disk, the memory or the file, and not of the statement. */
const AWAY = new Map([
  [6, "locked"],
  [7, "out of memory"],
  [8, "read-only"],
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

/** One connection to the file, with the durability that topupd promises. */
export class Database {
  readonly #connection: DatabaseSyncInstance;

  /** @throws StoreRefused where the file is no database, or cannot be made durable. */
  constructor(path: string, { mustExist }: { readonly mustExist: boolean }) {
    if (mustExist && !existsSync(path)) throw new StoreRefused(`there is no database at ${path}`);
    this.#connection = open(path);
  }

  prepare(sql: string): StatementSyncInstance {
    return this.#connection.prepare(sql);
  }

  exec(sql: string): void {
    this.#connection.exec(sql);
  }

  /** @throws StoreRefused unless commits survive a power cut, as far as SQLite itself can tell. */
  verifyDurability(): void {
    const mode = this.#pragma("journal_mode");
    const synchronous = this.#pragma("synchronous");
    if (mode !== "wal")
      throw new StoreRefused(
        `the database has journal_mode=${String(mode)}, and cannot be put into write-ahead logging`,
      );
    if (synchronous !== SYNCHRONOUS_FULL)
      throw new StoreRefused(`the database has synchronous=${String(synchronous)}, not FULL`);
  }

  /**
   * Runs `work` in one write transaction, which begins at once and ends with a commit to disk.
   * While another process writes, it tries again without blocking this one.
   * @throws StoreUnavailable where the others do not let go within five seconds.
   */
  async write<Result>(work: () => Result): Promise<Result> {
    let waited = 0;
    for (let pause = 1; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      try {
        return this.#transact("BEGIN IMMEDIATE", work);
      } catch (error) {
        if (!isBusy(error)) throw translate(error);
        if (waited >= PATIENCE_MS) throw new StoreUnavailable("another process holds the database", { cause: error });
      }
      await new Promise((resolve) => setTimeout(resolve, pause));
      waited += pause;
    }
  }

  /** Runs `work`, which reads by several statements, on one consistent view of the database. */
  read<Result>(work: () => Result): Result {
    return this.ask(() => this.#transact("BEGIN", work));
  }

  /** Runs `work`, which is a single statement. */
  ask<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      throw translate(error);
    }
  }

  /** As {@link write}, but waiting for other processes with the event loop blocked: for start-up only. */
  writeAtOpening<Result>(work: () => Result): Result {
    return this.#transact("BEGIN IMMEDIATE", work);
  }

  /** Ends the patience of opening: from now on, waiting is done without blocking the event loop. */
  opened(): void {
    this.exec("PRAGMA busy_timeout = 0");
  }

  /** Closes the connection; where it was the last to write, the file alone is complete then. */
  close(): void {
    if (!this.#connection.isOpen) return;
    try {
      this.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch {
      // Others go on with the log, or the disk does not take it: nothing is lost by leaving it there.
    }
    this.#connection.close();
  }

  #pragma(name: string): unknown {
    return this.prepare(`PRAGMA ${name}`).get()?.[name];
  }

  #transact<Result>(begin: string, work: () => Result): Result {
    // A disk that failed may have failed the rollback too.
    this.rollBack();
    this.exec(begin);
    try {
      const result = work();
      this.exec("COMMIT");
      return result;
    } catch (error) {
      try {
        this.rollBack();
      } catch {
        // What went wrong first is what the caller must hear.
      }
      throw error;
    }
  }

  rollBack(): void {
    if (this.#connection.isTransaction) this.exec("ROLLBACK");
  }
}

function isBusy(error: unknown): boolean {
  return errorCode(error) === SQLITE_BUSY;
}

/** Tells what is wrong with the database from what is wrong with a statement, which is a defect of topupd. */
export function translate(error: unknown): unknown {
  if (isBusy(error)) return new StoreUnavailable("another process holds the database", { cause: error });
  const reason = AWAY.get(errorCode(error) ?? 0);
  return reason === undefined ? error : new StoreUnavailable(reason, { cause: error });
}

/** The primary result code: the low byte of the extended one. */
function errorCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  const extended = "errcode" in error ? error.errcode : CODES.get(error.message);
  return typeof extended === "number" ? extended & 0xff : undefined;
}

function open(path: string): DatabaseSyncInstance {
  try {
    makeFolder(dirname(path));
    const isNew = !existsSync(path);
    const connection = new DatabaseSync(path, { timeout: OPENING_TIMEOUT_MS });
    // It holds customers and a secret: no business of other users of the machine.
    if (isNew) chmodSync(path, 0o600);
    refuseForeign(connection);
    connection.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;");
    return connection;
  } catch (error) {
    if (error instanceof StoreRefused) throw error;
    if (isBusy(error)) throw translate(error);
    throw new StoreRefused(`${path} cannot be opened as a database: ${(error as Error).message}`, { cause: error });
  }
}

/** Before anything is changed in it. */
function refuseForeign(connection: DatabaseSyncInstance): void {
  const names = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as { name: string }[];
  if (names.length === 0 || names.some(({ name }) => name === "schema_migration")) return;
  connection.close();
  throw new StoreRefused("the file is a database, but not one of topupd");
}

/** The last folder of a path, and no more: a whole path that is missing is a path that is misspelt. */
function makeFolder(path: string): void {
  if (!existsSync(path)) mkdirSync(path);
}
