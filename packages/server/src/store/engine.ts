import {
  CamelCasePlugin,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  type QueryResult,
} from "kysely";
import type { ConnectionKey, Environment } from "../domain/customer.ts";
import type { ConnectionLedger } from "../domain/customer-import.ts";
import type { Entry } from "../domain/ledger.ts";
import type { ArchiveValue, Writers } from "./store.ts";
import type { RawTables, Tables } from "./tables.ts";

/** What SQL that is written once needs of an engine. Both engines give it. */
export interface Engine {
  /** Runs single statements that read, each on what is committed by then. */
  readonly db: Kysely<Tables>;
  /**
   * Runs `work` in one write transaction. Awaits nothing but the database inside. Rejects as the methods of the store do.
   */
  transact<Result>(work: (tx: Kysely<Tables>) => Promise<Result>): Promise<Result>;
  /**
   * The same, of something that every process keeps in memory: partners, tokens, secrets, catalogues, the provider's
   * settings. One such transaction follows the other.
   */
  change<Result>(work: (tx: Kysely<Tables>) => Promise<Result>): Promise<Result>;
  /** Orders a transaction with the top-ups and imports of some customers; to be called first in it, and once. */
  lockCustomers(
    tx: Kysely<Tables>,
    customers: readonly { readonly environment: Environment; readonly cuid: string }[],
  ): Promise<void>;
  /**
   * Resolves once everything that was being recorded when it was called shows, or never will: a commit that waits for a
   * standby shows only once that has answered, however long ago it was decided.
   */
  awaitCommits(): Promise<void>;
  /** From here to the end of the transaction, nobody else appends to the audit trail; to be called last in it. */
  lockAuditTrail(tx: Kysely<Tables>): Promise<void>;
  /** Who holds a lease, and keeps it to the end of the transaction. */
  holderOf(tx: Kysely<Tables>, lease: string): Promise<string | undefined>;
  /**
   * From here to the end of the transaction, nobody else writes events: they are numbered in the order of commits. To be
   * called last, after {@link lockAuditTrail}.
   */
  lockEvents(tx: Kysely<Tables>): Promise<void>;
  /** From here to the end of the transaction, nobody else notes refused calls, which are numbered. */
  lockAttempts(tx: Kysely<Tables>): Promise<void>;
  /** All ledgers of some customers of one environment, by cuid, connection and plan. @param tx or `db`, or that of a view. */
  readLedgers(
    tx: Kysely<Tables>,
    environment: Environment,
    cuids: readonly string[],
  ): Promise<readonly (ConnectionLedger & { readonly cuid: string })[]>;
  /** Appends an entry, and puts the subscription's row as it says. Inside a transaction. */
  appendEntry(tx: Kysely<Tables>, key: ConnectionKey, plan: string, entry: Entry): Promise<void>;
  /** Lets go of the entries of a ledger that are numbered below `seq`; never of its last one. Inside a transaction. */
  deleteEntries(tx: Kysely<Tables>, key: ConnectionKey, plan: string, seq: number): Promise<void>;
  /** One moment of all that is stored, to be read for as long as it takes. */
  openView(writers: Writers): Promise<View>;
  /** One write transaction beside which nobody else writes, for as long as it takes. */
  openFilling(): Promise<Filling>;
}

export interface View {
  readonly db: Kysely<Tables>;
  /** Ends the transaction; of a filling that was not committed, nothing stays. */
  close(): Promise<void>;
}

export interface Filling extends View {
  /**
   * Inserts many rows.
   * @param columns of the table, all that an archive has. Subscriptions come before ledger entries, and the entries of a
   *   ledger in the order of their numbers.
   */
  insert(table: keyof RawTables, columns: readonly string[], rows: readonly (readonly ArchiveValue[])[]): Promise<void>;
  /** Whatever makes reading the many new rows quick. */
  settle(): Promise<void>;
  commit(): Promise<void>;
}

/** Runs one statement, wherever the engine runs it. */
type Execute = <Row>(query: CompiledQuery) => Promise<QueryResult<Row>>;

/** Kysely that begins and ends no transaction by itself. @param dialect of an engine, without what connects. */
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

/** One for all, since it remembers the names that it has converted. */
const CAMEL_CASE = new CamelCasePlugin();

/**
 * The same database with its own names of tables and columns. For many thousand rows, whose names would take long to
 * convert, and for rows that hand-written SQL reads too.
 */
export function withRawNames(db: Kysely<Tables>): Kysely<RawTables> {
  return db.withoutPlugins() as Kysely<unknown> as Kysely<RawTables>;
}

async function nothing(): Promise<void> {}

function notHere(): never {
  throw new Error("transactions are the engine's, and what is long is read in pages");
}
