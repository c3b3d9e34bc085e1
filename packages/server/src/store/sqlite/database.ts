import type { DatabaseSyncInstance, StatementSyncInstance } from "@photostructure/sqlite";
import { StoreRefused } from "../errors.ts";
import { isBusy, translate } from "./error-translation.ts";
import { openFile } from "./file.ts";

/** How long a write is tried again before the caller is told that the store is away. */
const PATIENCE_MS = 5_000;
const LONGEST_PAUSE_MS = 20;

const SYNCHRONOUS_FULL = 2;

export type Value = string | number | null | Uint8Array;

/** One connection to the file, with the durability that topupd promises. */
export class Database {
  readonly #connection: DatabaseSyncInstance;
  readonly #begin: StatementSyncInstance;
  readonly #beginImmediate: StatementSyncInstance;
  readonly #rollBack: StatementSyncInstance;
  readonly #commit: StatementSyncInstance;
  /** Whether the transaction that is open is the turn's, for reading. */
  #isReading = false;
  #view = 0;
  /** Those that only read leave the log alone. */
  #hasWritten = false;

  /** @throws StoreRefused where the file is no database of topupd's, cannot be written, or is not durable. */
  constructor(path: string, { mustExist }: { readonly mustExist: boolean }) {
    this.#connection = openFile(path, mustExist);
    this.#begin = this.prepare("BEGIN");
    this.#beginImmediate = this.prepare("BEGIN IMMEDIATE");
    this.#rollBack = this.prepare("ROLLBACK");
    this.#commit = this.prepare("COMMIT");
    try {
      this.verifyDurability();
    } catch (error) {
      this.#connection.close();
      throw error;
    }
  }

  /** The number of the view that is open for reading, or was last. */
  get view(): number {
    return this.#view;
  }

  prepare(sql: string): StatementSyncInstance {
    return this.#connection.prepare(sql);
  }

  /** A query and its rows, each made by one literal from the list of its values: faster than the driver makes them. */
  prepareRows<Row>(sql: string): (...values: Value[]) => Row[] {
    const statement = this.prepare(sql);
    const toRow = rowMaker<Row>(statement.columns().map(({ name }) => name));
    statement.setReturnArrays(true);
    return (...values) => (statement.all(...values) as unknown[][]).map(toRow);
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
      this.#beginWith(this.#beginImmediate);
      try {
        const result = work();
        this.commit();
        return result;
      } catch (error) {
        this.#tryToRollBack();
        throw error;
      }
    });
  }

  /**
   * Begins a write transaction that may take as long as it needs, and ends with {@link commit} or
   * {@link rollBack}. Others can read meanwhile, and nobody can write.
   * @throws StoreUnavailable as {@link write}.
   */
  async beginWriting(): Promise<void> {
    await this.#patiently(() => this.#beginWith(this.#beginImmediate));
  }

  /**
   * Begins a transaction that sees what was committed by now, for as long as it needs, and holds nobody up. It ends
   * with {@link rollBack}.
   * @throws StoreUnavailable as {@link write}.
   */
  async beginView(): Promise<void> {
    await this.#patiently(() => {
      this.#beginWith(this.#begin);
      // SQLite looks at the database, and at nothing later, from the first read on.
      this.exec("SELECT count(*) FROM provider");
    });
  }

  commit(): void {
    this.#hasWritten = true;
    this.#commit.run();
  }

  rollBack(): void {
    if (this.#connection.isTransaction) this.#rollBack.run();
  }

  /**
   * Runs `work`, which reads, on one consistent view of the database. All that is read so in one turn of the
   * event loop shares the view: to begin and to end one costs more than many a question. What must know of
   * everything that was answered before it, also by other processes, is asked by {@link ask}.
   */
  read<Result>(work: () => Result): Result {
    return translating(() => {
      if (!this.#isReading) {
        this.#beginWith(this.#begin);
        this.#isReading = true;
        this.#view += 1;
        setImmediate(() => this.seeAnew());
      }
      return work();
    });
  }

  /** Runs `work`, each of whose statements sees the database as it is now. */
  ask<Result>(work: () => Result): Result {
    return translating(() => {
      this.#endReading();
      return work();
    });
  }

  /** @throws StoreUnavailable where the database does not answer. */
  ping(): void {
    this.ask(() => this.prepare("SELECT count(*) FROM partner").get());
  }

  /** What is read from now on sees what another connection has committed by now. */
  seeAnew(): void {
    try {
      this.#endReading();
    } catch {
      // Nobody waits for it: whoever asks next tries again, and is told.
    }
  }

  /**
   * Closes the connection. The log is written into the file first, so that the file alone is complete: SQLite puts that off
   * for as long as a statement is still about.
   */
  close(): void {
    if (!this.#connection.isOpen) return;
    this.#endReading();
    if (this.#hasWritten) this.#emptyLog();
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

  #emptyLog(): void {
    try {
      this.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch {
      // Others are at work, or the disk does not take it: nothing is lost by leaving it there.
    }
  }

  #beginWith(statement: StatementSyncInstance): void {
    this.#isReading = false;
    // Whatever is open: the turn's view, or a transaction that a failing disk has left.
    this.rollBack();
    statement.run();
  }

  #endReading(): void {
    if (!this.#isReading) return;
    this.#isReading = false;
    if (this.#connection.isOpen) this.rollBack();
  }

  #tryToRollBack(): void {
    try {
      this.rollBack();
    } catch {
      // What went wrong first is what the caller must hear.
    }
  }

  #pragma(name: string): unknown {
    return this.prepare(`PRAGMA ${name}`).get()?.[name];
  }
}

/** Compiles what makes a row of the values of its columns: V8 makes a literal in a tenth of the time of an assembled object. */
export function rowMaker<Row>(columns: readonly string[]): (values: readonly unknown[]) => Row {
  const fields = columns.map((column, index) => `${JSON.stringify(column)}: values[${index}]`);
  // The text is made of the columns of topupd's own statements alone.
  // oxlint-disable-next-line typescript/no-implied-eval
  return new Function("values", `return { ${fields.join(", ")} };`) as (values: readonly unknown[]) => Row;
}

/** Runs `work`, and translates errors of the database itself to StoreUnavailable. */
export function translating<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw translate(error);
  }
}
