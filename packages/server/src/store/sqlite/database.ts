import type { DatabaseSyncInstance, StatementSyncInstance } from "@photostructure/sqlite";
import { StoreRefused } from "../errors.ts";
import type { ObserveCheckpoints } from "../store.ts";
import { CACHE_KIB, CHECKPOINT_PAGES, type OpenOptions, openFile } from "./file.ts";
import { type FileIdentities, FileWatch } from "./file-watch.ts";
import { checkpointTrouble, isBusy, translate } from "./trouble.ts";

/** How long a write is tried again before the caller is told that the store is away. */
const PATIENCE_MS = 5_000;
const LONGEST_PAUSE_MS = 20;

/** Of a log that nobody else seems to write into the file. */
const LEFT_BEHIND_PAGES = 4 * CHECKPOINT_PAGES;

const SYNCHRONOUS_FULL = 2;

/** One connection to the file, with the durability that topupd promises. */
export class Database {
  readonly #connection: DatabaseSyncInstance;
  readonly #files: FileWatch;
  readonly #observeCheckpoints: ObserveCheckpoints | undefined;
  readonly #iterated = new Set<StatementSyncInstance>();
  /** Whether anything was asked to be written since opening: commands that only read leave the log alone. */
  #hasWritten = false;
  /** Whether the transaction that is open is the turn's, for reading. */
  #isReading = false;
  #view = 0;

  /** @throws StoreRefused where the file is no database of topupd's, cannot be written, or is not durable. */
  constructor(path: string, options: OpenOptions) {
    this.#files = new FileWatch(path, options.files);
    this.#observeCheckpoints = options.observeCheckpoints;
    // Before anything is made beside a file that is another.
    this.#files.verify();
    this.#connection = openFile(path, options);
    try {
      this.verifyDurability();
      this.#files.opened(this.#connection.location() ?? path);
    } catch (error) {
      this.#connection.close();
      throw error;
    }
  }

  get files(): FileIdentities {
    return this.#files.known;
  }

  /** Whether nobody else is at work on the file by a log, or an index of it, that is not this connection's. */
  get isOurs(): boolean {
    return this.#files.isOurs;
  }

  /** The number of the view that is open for reading, or was last. */
  get view(): number {
    return this.#view;
  }

  prepare(sql: string): StatementSyncInstance {
    return this.#connection.prepare(sql);
  }

  /** As {@link prepare}, for a query whose rows come as lists of their values, which is much faster. */
  prepareRows(sql: string): (...values: (string | number | null)[]) => unknown[][] {
    const statement = this.prepare(sql);
    statement.setReturnArrays(true);
    return (...values) => statement.all(...values) as unknown[][];
  }

  /** The rows of a query, one after the other, however many they are. */
  *iterate(sql: string): Generator<unknown> {
    const statement = this.prepare(sql);
    // The driver's iterator does not hold its statement: once collected, it would take the process with it.
    this.#iterated.add(statement);
    try {
      yield* statement.iterate();
    } finally {
      this.#iterated.delete(statement);
    }
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
    return this.#patiently(() => {
      this.#hasWritten = true;
      return this.#transact("BEGIN IMMEDIATE", () => {
        this.#files.verify();
        return work();
      });
    });
  }

  /**
   * Begins a write transaction that may take as long as it needs, and ends with {@link commit} or
   * {@link rollBack}. Others can read meanwhile, and nobody can write.
   * @throws StoreUnavailable as {@link write}.
   */
  async beginWriting(): Promise<void> {
    await this.#patiently(() => {
      this.#endReading();
      this.exec("BEGIN IMMEDIATE");
      this.#files.verify();
    });
  }

  /**
   * Begins a transaction that sees what was committed by now, for as long as it needs, and holds nobody up. It ends
   * with {@link rollBack}.
   * @throws StoreUnavailable as {@link write}.
   */
  async beginView(): Promise<void> {
    await this.#patiently(() => {
      this.#endReading();
      this.rollBack();
      this.exec("BEGIN");
      // SQLite looks at the database, and at nothing later, from the first read on.
      this.prepare("SELECT count(*) FROM provider").get();
      this.#files.verify();
    });
  }

  commit(): void {
    this.#hasWritten = true;
    this.#files.verify();
    this.exec("COMMIT");
  }

  /**
   * Runs `work`, which reads, on one consistent view of the database. All that is read so in one turn of the
   * event loop shares the view: to begin and to end one costs more than many a question. What must know of
   * everything that was answered before it, also by other processes, is asked by {@link ask}.
   */
  read<Result>(work: () => Result): Result {
    return this.#translating(() => {
      this.#beginReading();
      return work();
    });
  }

  /** Runs `work`, which is a single statement, on the database as it is now. */
  ask<Result>(work: () => Result): Result {
    return this.#translating(() => {
      this.#endReading();
      return work();
    });
  }

  /** What is read from now on sees what another connection has committed by now. */
  changedElsewhere(): void {
    this.#hasWritten = true;
    this.#endReadingWhereItCan();
  }

  #translating<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      throw translate(error);
    }
  }

  /**
   * What `find` finds, or else what `make` makes of it, in a write transaction in which it was looked for again. For
   * start-up only: to write waits with the event loop blocked. Where it is found, nobody is waited for, the disk may be
   * full, and no other process has to read anew what it keeps in memory.
   */
  findOrMake<Result>(find: () => Result | undefined, make: () => Result): Result {
    return this.#transact("BEGIN", find) ?? this.#transact("BEGIN IMMEDIATE", () => find() ?? make());
  }

  /** @throws StoreUnavailable where the database does not answer, or is not the one that was opened. */
  ping(): void {
    this.#files.verify();
    this.ask(() => this.prepare("SELECT count(*) FROM partner").get());
  }

  /** Ends the patience of opening: from now on, waiting is done without blocking the event loop. */
  opened(): void {
    this.exec("PRAGMA busy_timeout = 0");
  }

  /** Keeps no more pages in memory than is due to one of two connections of a process. */
  sharesCache(): void {
    this.exec(`PRAGMA cache_size = -${CACHE_KIB / 2}`);
  }

  /** Leaves it to another connection of the process to write the log into the file, unless that lets it become very long. */
  leavesCheckpoints(): void {
    this.exec(`PRAGMA wal_autocheckpoint = ${LEFT_BEHIND_PAGES}`);
  }

  /**
   * Closes the connection. Where it has written, and nobody else has the file open, the log is written into the file first,
   * so that the file alone is complete. Not so where other files are at the path: whoever made them may be at work there
   * without minding this one's locks. Nor where the file is gone from there: it may be gone for good once this process has
   * closed it, and the log, which still has its name, is then all that is left. SQLite, too, leaves the log of such a file as
   * it is when its last connection is closed.
   */
  close(): void {
    if (!this.#connection.isOpen) return;
    this.#endReading();
    if (this.#hasWritten && this.#files.isOurs) this.#emptyLog();
    this.#connection.close();
  }

  /** Runs `work`, and again while another process writes. */
  async #patiently<Result>(work: () => Result): Promise<Result> {
    let waited = 0;
    for (let pause = 1; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      try {
        return work();
      } catch (error) {
        if (!isBusy(error) || waited >= PATIENCE_MS) throw translate(error);
      }
      await new Promise((resolve) => setTimeout(resolve, pause));
      waited += pause;
    }
  }

  #beginReading(): void {
    if (this.#isReading) return;
    this.rollBack();
    this.exec("BEGIN");
    this.#isReading = true;
    this.#view += 1;
    setImmediate(() => this.#endReadingWhereItCan());
  }

  #endReadingWhereItCan(): void {
    try {
      this.#endReading();
    } catch {
      // Nobody waits for it: whoever asks next tries again, and is told.
    }
  }

  #endReading(): void {
    if (!this.#isReading) return;
    this.#isReading = false;
    if (this.#connection.isOpen) this.rollBack();
  }

  #emptyLog(): void {
    try {
      this.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch (error) {
      // The disk does not take it: nothing is lost by leaving it there.
      this.#observeCheckpoints?.(checkpointTrouble(error));
    }
  }

  #pragma(name: string): unknown {
    return this.prepare(`PRAGMA ${name}`).get()?.[name];
  }

  #transact<Result>(begin: string, work: () => Result): Result {
    // A disk that failed may have failed the rollback too.
    this.rollBack();
    this.#isReading = false;
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
