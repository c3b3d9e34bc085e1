import type { DatabaseSyncInstance, StatementSyncInstance } from "@photostructure/sqlite";
import { StoreRefused } from "../errors.ts";
import { isBusy, openFile, translate } from "./file.ts";

const PARAMETER = /[@$][A-Za-z_0-9]+/g;

/** How long a write is retried before it fails with StoreUnavailable. */
const PATIENCE_MS = 5_000;
const LONGEST_PAUSE_MS = 20;

const SYNCHRONOUS_FULL = 2;

type Written = ReturnType<StatementSyncInstance["run"]>;

export type Value = string | number | null | Uint8Array;

/** One connection to the file, with durable commits. */
export class Database {
  readonly #connection: DatabaseSyncInstance;
  readonly #begin: StatementSyncInstance;
  readonly #beginImmediate: StatementSyncInstance;
  readonly #rollBack: StatementSyncInstance;
  readonly #commit: StatementSyncInstance;
  /** Whether the open transaction is the reading view of this turn of the event loop. */
  #isReading = false;
  #view = 0;
  readonly #prepared = new Map<string, StatementSyncInstance>();
  /** A connection that has only read does not checkpoint the write-ahead log when it closes. */
  #hasWritten = false;

  /** @throws StoreRefused if the file is not a topupd database, cannot be written, or is not durable. */
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

  /** The number of the open or the last reading view. */
  get view(): number {
    return this.#view;
  }

  prepare(sql: string): StatementSyncInstance {
    return this.#connection.prepare(sql);
  }

  /** The statement of a text, prepared at its first use. */
  prepareOnce(sql: string): StatementSyncInstance {
    const known = this.#prepared.get(sql);
    if (known !== undefined) return known;
    const statement = this.prepare(sql);
    this.#prepared.set(sql, statement);
    return statement;
  }

  /** Prepares a query. Each row is made by one literal from the list of its values: this is faster than the driver's way. */
  prepareRows<Row>(sql: string): (...values: Value[]) => Row[] {
    const statement = this.prepare(sql);
    const toRow = rowMaker<Row>(statement.columns().map(({ name }) => name));
    statement.setReturnArrays(true);
    return (...values) => (statement.all(...values) as unknown[][]).map(toRow);
  }

  /**
   * Prepares a statement that writes a row: `@column` is a value of the row, `$name` one given beside it. They are passed as
   * plain arguments, which the driver binds fastest.
   */
  prepareWrite<Row extends object, Beside extends object = Record<never, never>>(
    sql: string,
  ): (row: Row, beside?: Beside) => Written {
    const names = [...new Set(sql.match(PARAMETER))];
    const values = names.map((name) => name.replace("@", "row.").replace("$", "beside."));
    const statement = this.prepare(sql.replaceAll(PARAMETER, (name) => `?${names.indexOf(name) + 1}`));
    const write = compiled("statement", `return (row, beside) => statement.run(${values.join(", ")});`);
    return write(statement) as (row: Row, beside?: Beside) => Written;
  }

  exec(sql: string): void {
    this.#connection.exec(sql);
  }

  /** @throws StoreRefused unless SQLite's settings say that commits survive a power cut. */
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
   * Runs `work` in one write transaction, which ends with a commit to disk. While another process writes, it retries
   * without blocking this process.
   * @throws StoreUnavailable if others hold the file for more than five seconds.
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
   * Begins a write transaction without a time limit. It ends with {@link commit} or {@link rollBack}. Others can read
   * meanwhile, but not write.
   * @throws StoreUnavailable as {@link write}.
   */
  async beginWriting(): Promise<void> {
    await this.#patiently(() => this.#beginWith(this.#beginImmediate));
  }

  /**
   * Begins a transaction that sees all commits up to now, without a time limit, and blocks nothing. It ends with
   * {@link rollBack}.
   * @throws StoreUnavailable as {@link write}.
   */
  async beginView(): Promise<void> {
    await this.#patiently(() => {
      this.#beginWith(this.#begin);
      // SQLite fixes the view at the first read.
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
   * Runs `work`, which reads, on one consistent view of the database. All reads of one turn of the event loop share the
   * view, because a view costs more than most queries. Use {@link ask} to see everything that any process has answered.
   */
  read<Result>(work: () => Result): Result {
    return translating(() => {
      if (!this.#isReading) {
        this.#beginWith(this.#begin);
        this.#isReading = true;
        this.#view += 1;
        setImmediate(() => this.endView());
      }
      return work();
    });
  }

  /** Runs `work`. Each of its statements sees the database as it is now. */
  ask<Result>(work: () => Result): Result {
    return translating(() => {
      this.#endReading();
      return work();
    });
  }

  /** @throws StoreUnavailable if the database does not answer. */
  ping(): void {
    this.ask(() => this.prepare("SELECT count(*) FROM partner").get());
  }

  /** Ends the reading view: the next read sees all commits of other connections. */
  endView(): void {
    try {
      this.#endReading();
    } catch {
      // The next read tries again and reports the error.
    }
  }

  /**
   * Closes the connection. The write-ahead log is checkpointed first, so that the file alone is complete: SQLite itself
   * delays that until the last statement is garbage-collected.
   */
  close(): void {
    if (!this.#connection.isOpen) return;
    this.#endReading();
    if (this.#hasWritten) this.#emptyLog();
    this.#connection.close();
  }

  /** Runs `work`, and retries it while another process writes. */
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
      // Other connections are busy or the disk failed. The log stays, and nothing is lost.
    }
  }

  #beginWith(statement: StatementSyncInstance): void {
    this.#isReading = false;
    // Ends the turn's view, or a transaction that a failing disk has left open.
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
      // The caller must get the first error.
    }
  }

  #pragma(name: string): unknown {
    return this.prepare(`PRAGMA ${name}`).get()?.[name];
  }
}

/** Makes a row from its values by one literal: V8 makes it ten times faster than an assembled object. */
export function rowMaker<Row>(columns: readonly string[]): (values: readonly unknown[]) => Row {
  const fields = columns.map((column, index) => `${JSON.stringify(column)}: values[${index}]`);
  return compiled("values", `return { ${fields.join(", ")} };`) as (values: readonly unknown[]) => Row;
}

/** Compiles a function of one parameter. The text contains only names of topupd's own statements. */
function compiled(parameter: string, body: string): (value: unknown) => unknown {
  // oxlint-disable-next-line typescript/no-implied-eval
  return new Function(parameter, body) as (value: unknown) => unknown;
}

/** Runs `work`, and translates errors of the database itself to StoreUnavailable. */
export function translating<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw translate(error);
  }
}
