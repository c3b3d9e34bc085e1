import {
  CamelCasePlugin,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  type QueryResult,
} from "kysely";
import type { ConnectionKey, Environment, NewEntry } from "../domain/customer.ts";
import type { ConnectionLedger } from "../domain/customer-import.ts";
import type { KeyOf, RawRow, RawTables, SaleRow, TableName, Tables } from "./tables.ts";

/** The parts of an engine for SQL that both engines share. */
export interface Engine {
  /** Runs single reading statements. Each sees the commits up to its start. */
  readonly db: Kysely<Tables>;
  /** Runs `work` in one write transaction. `work` must await only the database. Rejects like the methods of the store. */
  transact<Result>(work: (tx: Kysely<Tables>) => Promise<Result>): Promise<Result>;
  /**
   * Runs a write transaction for data that every process caches: partners, tokens, secrets, catalogues, the provider's
   * settings. Such transactions run one after the other.
   */
  change<Result>(work: (tx: Kysely<Tables>) => Promise<Result>): Promise<Result>;
  /** Runs `work`, which only reads, on one view of the database. `work` must await only the database. */
  view<Result>(work: (db: Kysely<Tables>) => Promise<Result>): Promise<Result>;
  /**
   * Locks customers against top-ups and corrections, and excludes other imports and changes of the provider's settings. Must
   * be called first in a transaction, instead of {@link lockCustomers}.
   */
  lockImports(tx: Kysely<Tables>, customers: readonly CustomerKey[]): Promise<void>;
  /** Locks customers against top-ups and imports. Must be called first in a transaction, and once. */
  lockCustomers(tx: Kysely<Tables>, customers: readonly CustomerKey[]): Promise<void>;
  /**
   * Resolves when every recording transaction that runs at the call has ended. A commit that waits for a standby is not
   * visible before.
   */
  awaitCommits(): Promise<void>;
  /** Locks the audit trail until the end of the transaction. Must be called after all other writes. */
  lockAuditTrail(tx: Kysely<Tables>): Promise<void>;
  /** The holder of a lease. The lease cannot change before the end of the transaction. */
  holderOf(tx: Kysely<Tables>, lease: string): Promise<string | undefined>;
  /**
   * Locks the events until the end of the transaction, so that they are numbered in the order of commits. Must be called
   * last, after {@link lockAuditTrail}.
   */
  lockEvents(tx: Kysely<Tables>): Promise<void>;
  /**
   * Locks the rows of `due` that exist, in the order of their keys, as `change` of store/due.ts does. Must be called before
   * they are read to be written.
   */
  lockDue(tx: Kysely<Tables>, targetId: number, subjects: readonly string[]): Promise<void>;
  /** Waits for recording transactions, and excludes others until the end of the transaction. */
  lockRecording(tx: Kysely<Tables>): Promise<void>;
  /** Locks the numbering of recorded calls until the end of the transaction. */
  lockCalls(tx: Kysely<Tables>): Promise<void>;
  /** All ledgers of some customers, by cuid, connection and plan. @param tx a transaction, `db`, or the `db` of a view. */
  readLedgers(
    tx: Kysely<Tables>,
    environment: Environment,
    cuids: readonly string[],
  ): Promise<readonly (ConnectionLedger & { readonly cuid: string })[]>;
  /** Appends entries, at most one of each ledger, and updates the subscription rows, inside a transaction. */
  appendEntries(tx: Kysely<Tables>, entries: readonly NewEntry[]): Promise<void>;
  /** Adds sales to the sums of their days, inside the transaction that changes them. */
  addSales(tx: Kysely<Tables>, rows: readonly SaleRow[]): Promise<void>;
  readonly rows: ManyRows;
  /** Deletes the entries of a ledger numbered below `seq`, inside a transaction. The last entry must stay. */
  deleteEntries(tx: Kysely<Tables>, key: ConnectionKey, plan: string, seq: number): Promise<void>;
  /** Opens a view of all stored data as of one moment, without a time limit. */
  openView(writers: Writers): Promise<View>;
  /** Opens a write transaction that excludes all other writers, without a time limit. */
  openFilling(): Promise<Filling>;
}

/** Reads and writes of many rows at once. */
export interface ManyRows {
  /** Rows of an environment with one of the values in a column. An index must begin with the column and the environment. */
  find<Name extends "customer" | "connection">(
    db: Db,
    table: Name,
    column: keyof RawRow<Name> & string,
    environment: Environment,
    values: readonly string[],
  ): Promise<RawRow<Name>[]>;
  /** Inserts rows, or replaces those of the same key. Breaking another unique index is an error. */
  put<Name extends TableName>(tx: Db, table: Name, rows: readonly RawRow<Name>[]): Promise<void>;
  /** Inserts rows unless they exist. */
  add<Name extends TableName>(tx: Db, table: Name, rows: readonly RawRow<Name>[]): Promise<void>;
  /** Deletes rows by their key. */
  remove<Name extends TableName>(tx: Db, table: Name, rows: readonly KeyOf<Name>[]): Promise<void>;
}

type CustomerKey = Pick<ConnectionKey, "environment" | "cuid">;

export interface View {
  readonly db: Kysely<Tables>;
  /** Ends the transaction. A filling that was not committed is rolled back. */
  close(): Promise<void>;
}

export interface Filling extends View {
  /**
   * Inserts many rows. Subscriptions must come before ledger entries, and the entries of a ledger in the order of their
   * numbers.
   * @param columns all archived columns of the table.
   */
  insert(table: keyof RawTables, columns: readonly string[], rows: readonly (readonly ArchiveValue[])[]): Promise<void>;
  /** Updates the query planner's statistics for the new rows. */
  settle(): Promise<void>;
  commit(): Promise<void>;
}

type Execute = <Row>(query: CompiledQuery) => Promise<QueryResult<Row>>;

/** Kysely on an engine's own connections and transactions. @param dialect the engine's dialect without a driver. */
export function kyselyOver(dialect: Omit<Dialect, "createDriver">, execute: Execute): Kysely<Tables> {
  const connection: DatabaseConnection = { executeQuery: execute, streamQuery: notHere };
  const driver: Driver = {
    acquireConnection: async () => connection,
    init: nothing,
    releaseConnection: nothing,
    destroy: nothing,
    beginTransaction: notHere,
    commitTransaction: notHere,
    rollbackTransaction: notHere,
  };
  return new Kysely<Tables>({ dialect: { ...dialect, createDriver: () => driver }, plugins: [CAMEL_CASE] });
}

/** One instance for all, because it caches converted names. */
const CAMEL_CASE = new CamelCasePlugin();

/**
 * The same database with its original names of tables and columns. For thousands of rows, whose names take long to convert,
 * and for rows that hand-written SQL reads too.
 */
export function withRawNames(db: Kysely<Tables>): Kysely<RawTables> {
  return db.withoutPlugins() as Kysely<unknown> as Kysely<RawTables>;
}

async function nothing(): Promise<void> {}

function notHere(): never {
  throw new Error("use the engine for transactions, and read long results in pages");
}

/**
 * What writers do while an archive is read. `wait`: they wait until the work with it ends, or fail with StoreUnavailable, so
 * that nothing is acknowledged that the archive lacks. `go_on`: they continue, and the archive lacks their writes.
 */
export type Writers = "wait" | "go_on";

export type ArchiveValue = string | number | boolean | Uint8Array | null;

/** A transaction; or the database, if nothing is written. */
export type Db = Kysely<Tables>;
