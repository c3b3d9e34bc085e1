import type { Calendar, Instant } from "../../domain/calendar.ts";
import { type ArchiveTable, CHUNK_ROWS, readArchive, type StoredRow } from "../common/archive.ts";
import { fillFromArchive } from "../common/archive-filling.ts";
import type { ArchiveChunk, ArchiveTotals, ArchiveValue, ArchiveWork, ProviderSettings, Writers } from "../store.ts";
import { checkRows } from "./check.ts";
import type { Database } from "./database.ts";
import { translate } from "./trouble.ts";

/** 64 MiB: rows may come in an order in which they go to all places of a table. */
const CACHE = "PRAGMA cache_size = -65536";

/**
 * Hands over all that is stored. Where writers are to wait, it holds the right to write, and writes nothing. Where
 * they go on, the write-ahead log keeps all that they write until this is done.
 */
export function exportArchive<Result>(
  connect: () => Database,
  writers: Writers,
  work: ArchiveWork<Result>,
): Promise<Result> {
  return onOwnConnection(connect, async (database) => {
    await (writers === "wait" ? database.beginWriting() : database.beginView());
    return work(readArchive((query) => readPages(database, query)));
  });
}

/** Fills the database, or leaves it as it is. */
export async function importArchive(
  connect: () => Database,
  chunks: AsyncIterable<ArchiveChunk>,
  provider: ProviderSettings,
  now: Instant,
): Promise<ArchiveTotals> {
  return onOwnConnection(connect, async (database) => {
    await database.beginWriting();
    database.exec(CACHE);
    const totals = await fillFromArchive(fillingTransaction(database), chunks, provider, now);
    database.commit();
    return totals;
  });
}

/** Runs `work`, and takes back whatever transaction it has begun and not committed. */
async function onOwnConnection<Result>(
  connect: () => Database,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const database = connect();
  try {
    database.opened();
    return await work(database);
  } catch (error) {
    throw translate(error);
  } finally {
    // SQLite puts off the closing, and with it the end of the transaction, while a statement is still about.
    database.rollBack();
    database.close();
  }
}

function fillingTransaction(database: Database) {
  const insertions = new Map<string, (row: readonly ArchiveValue[]) => void>();
  return {
    pages: (query: string) => readPages(database, query),
    execute: (sql: string) => database.exec(sql),
    insert: (table: ArchiveTable, rows: readonly (readonly ArchiveValue[])[]) => {
      const insertion = insertions.get(table.name) ?? insertionInto(database, table);
      insertions.set(table.name, insertion);
      database.ask(() => rows.forEach(insertion));
    },
    settle: () => {},
    check: (calendar: Calendar) => checkRows(database, calendar),
  };
}

function insertionInto(database: Database, { name, columns }: ArchiveTable) {
  const names = columns.map(([column]) => column).join(", ");
  const statement = database.prepare(`INSERT INTO ${name} (${names}) VALUES (${columns.map(() => "?").join(", ")})`);
  return (row: readonly ArchiveValue[]): void => {
    statement.run(...row.map((value) => (typeof value === "boolean" ? Number(value) : value)));
  };
}

function* readPages(database: Database, query: string): Generator<StoredRow[]> {
  let page: StoredRow[] = [];
  for (const row of database.iterate(query) as Iterable<StoredRow>) {
    page.push(row);
    if (page.length < CHUNK_ROWS) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}
