import { type ArchiveTable, CHUNK_ROWS, readArchive, type StoredRow } from "../common/archive.ts";
import { fillFromArchive } from "../common/archive-filling.ts";
import type { ArchiveChunk, ArchiveTotals, ArchiveValue, ProviderSettings } from "../store.ts";
import { checkRows } from "./check.ts";
import { Database } from "./database.ts";
import { translate } from "./trouble.ts";

/** 64 MiB: rows may come in an order in which they go to all places of a table. */
const CACHE = "PRAGMA cache_size = -65536";

/** Hands over all that is stored, while it holds the right to write and writes nothing. */
export async function exportArchive<Result>(
  path: string,
  work: (chunks: AsyncIterable<ArchiveChunk>) => Promise<Result>,
): Promise<Result> {
  return inTransaction(path, (database) => work(readArchive((query) => readPages(database, query))));
}

/** Fills the database, or leaves it as it is. */
export async function importArchive(
  path: string,
  chunks: AsyncIterable<ArchiveChunk>,
  provider: ProviderSettings,
): Promise<ArchiveTotals> {
  return inTransaction(path, async (database) => {
    database.exec(CACHE);
    const totals = await fillFromArchive(fillingTransaction(database, provider), chunks, provider);
    database.commit();
    return totals;
  });
}

/** Runs `work` in a write transaction of its own, which is taken back unless `work` commits. */
async function inTransaction<Result>(path: string, work: (database: Database) => Promise<Result>): Promise<Result> {
  const database = new Database(path, { mustExist: true });
  try {
    database.opened();
    await database.beginWriting();
    return await work(database);
  } catch (error) {
    throw translate(error);
  } finally {
    // SQLite puts off the closing, and with it the end of the transaction, while a statement is still about.
    database.rollBack();
    database.close();
  }
}

function fillingTransaction(database: Database, { calendar }: ProviderSettings) {
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
    check: () => checkRows(database, calendar),
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
