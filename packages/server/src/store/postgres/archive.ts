import type { Calendar, Instant } from "../../domain/calendar.ts";
import { customerDigest, customerDigestIn } from "../../domain/checkout.ts";
import type { Environment } from "../../domain/customer.ts";
import { ARCHIVE_TABLES, type ArchiveTable, type ColumnType, readArchive, type StoredRow } from "../common/archive.ts";
import { fillFromArchive } from "../common/archive-filling.ts";
import type { ArchiveChunk, ArchiveTotals, ArchiveValue, ArchiveWork, ProviderSettings, Writers } from "../store.ts";
import { checkRows } from "./check.ts";
import { LOCK_IMPORT, LOCK_REFERENCE } from "./session/locks.ts";
import { readPages } from "./session/pages.ts";
import { BEGIN, type Session } from "./session/session.ts";
import { type Column, insertRows } from "./tables/columns.ts";

const TABLES = ARCHIVE_TABLES.map(({ name }) => name);

/** How long others may still hold what is to be locked: longer than any batch or portion of an import takes. */
const LOCK_PATIENCE = "SET LOCAL lock_timeout = '10s'";

/*
 * Everything that records begins with a lock on the rows of customers: EXCLUSIVE turns it away there, before it
 * holds anything, where SHARE would let it pass and stop it in its midst. SHARE keeps all others from writing,
 * and lets processes start. Tables are locked in the order in which every transaction of topupd takes them.
 */
const LOCKS_OF_EXPORT = TABLES.map(
  (table) => `LOCK TABLE ${table} IN ${table === "customer" ? "EXCLUSIVE" : "SHARE"} MODE`,
).join("; ");
const LOCKS_OF_IMPORT = `LOCK TABLE ${TABLES.join(", ")} IN EXCLUSIVE MODE`;

/*
 * Every statement sees what was committed when the first one began. A top-up that was acknowledged is among it,
 * whichever process did so: PostgreSQL shows a commit to others before it answers for it.
 */
const VIEW = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT count(*) FROM provider";

/** A table that was vacuumed gives late rows before early ones, and a ledger is built up in its own order. */
const IN_ORDER = { subscription_grant: "seq" };

/** Hands over all that is stored. Where nobody can write, and where there is one view, every statement sees the same. */
export async function exportArchive<Result>(
  session: Session,
  writers: Writers,
  work: ArchiveWork<Result>,
): Promise<Result> {
  await session.execute(writers === "go_on" ? VIEW : `${BEGIN.text}; ${LOCK_PATIENCE}; ${LOCKS_OF_EXPORT}`);
  return work(readArchive((query) => readPages<StoredRow>(session, query), IN_ORDER));
}

/** Fills the database. Where it does not come to its end, PostgreSQL takes all back with the session. */
export async function importArchive(
  session: Session,
  chunks: AsyncIterable<ArchiveChunk>,
  provider: ProviderSettings,
  now: Instant,
): Promise<ArchiveTotals> {
  await session.execute(`${BEGIN.text}; ${LOCK_PATIENCE}`);
  await session.runAll([LOCK_REFERENCE, LOCK_IMPORT]);
  await session.execute(LOCKS_OF_IMPORT);
  const totals = await fillFromArchive(fillingTransaction(session), chunks, provider, now);
  await session.commit([]);
  return totals;
}

function fillingTransaction(session: Session) {
  const insertions = new Map(ARCHIVE_TABLES.map((table) => [table.name, insertionInto(table)]));
  return {
    pages: (query: string) => readPages<StoredRow>(session, query),
    execute: (sql: string) => session.execute(sql),
    insert: async ({ name }: ArchiveTable, rows: readonly (readonly ArchiveValue[])[]) => {
      await session.runAll([(insertions.get(name) as Insertion)(rows)]);
    },
    // Without it, PostgreSQL takes the tables for as small as they were.
    settle: () => session.execute(`ANALYZE ${TABLES.join(", ")}`),
    check: (calendar: Calendar) => checkRows(session, calendar),
  };
}

type Insertion = ReturnType<typeof insertRows>;

const TYPES: Readonly<Record<ColumnType, string>> = {
  text: "text",
  integer: "bigint",
  flag: "boolean",
  bytes: "bytea",
  json: "jsonb",
};

/** One statement that inserts any number of rows, with the digest of their customer where the table leads with it. */
function insertionInto({ name, columns }: ArchiveTable): Insertion {
  const types = columns.map(([column, type]): Column => [column, TYPES[type]]);
  const digest = customerDigestOf(name, new Map(columns.map(([column], index) => [column, index])));
  if (digest === undefined) return insertRows(name, types);
  const insert = insertRows(name, [["customer_digest", "bigint"], ...types]);
  return (rows) => insert(rows.map((row) => [digest(row), ...row]));
}

/** How the customer_digest of a row is found; undefined for a table without one. */
function customerDigestOf(table: string, positions: ReadonlyMap<string, number>) {
  const value = (row: readonly unknown[], column: string) => row[positions.get(column) as number] as string;
  if (table === "customer_code") return undefined;
  if (["retired_checkout", "reversal"].includes(table))
    return (row: readonly unknown[]) => customerDigestIn(value(row, "checkout_id"));
  if (!positions.has("cuid")) return undefined;
  return (row: readonly unknown[]) =>
    customerDigest({ environment: value(row, "environment") as Environment, cuid: value(row, "cuid") });
}
