import { createHash } from "node:crypto";
import { sql } from "kysely";
import type { Service } from "../domain/bouquet.ts";
import type { Environment } from "../domain/customer.ts";
import type { TransactionStatus } from "../domain/transaction.ts";
import { allLedgers } from "./customers.ts";
import { type ArchiveValue, type Db, type Engine, type Writers, withRawNames } from "./engine.ts";
import { entryRow } from "./rows.ts";
import type { ArchiveChunk, ArchiveTotals, ArchiveWork, MoneyTotal } from "./store.ts";
import { columnsOf, TABLE_NAMES, TABLES, type TableName } from "./tables.ts";

/** The maximum number of rows in a chunk. */
const CHUNK_ROWS = 1_000;

/** The maximum length of a chunk: audit entries can be long, and a chunk must fit in memory and a line of a backup. */
const CHUNK_CHARACTERS = 4 * 1024 * 1024;

type Row = readonly ArchiveValue[];
type RowsChunk = Extract<ArchiveChunk, { kind: "rows" }>;

/** Reads all stored data as of one moment. */
export async function exportArchive<Result>(
  engine: Engine,
  writers: Writers,
  work: ArchiveWork<Result>,
): Promise<Result> {
  const view = await engine.openView(writers);
  try {
    return await work(readArchive(engine, view.db));
  } finally {
    await view.close();
  }
}

async function* readArchive(engine: Engine, db: Db): AsyncGenerator<ArchiveChunk> {
  yield { kind: "totals", totals: await readTotals(db) };
  for (const table of TABLE_NAMES) yield* readTable(engine, db, table);
}

/** The rows of one table. The entries of a ledger come together, in the order of their numbers. */
export async function* readTable(engine: Engine, db: Db, table: TableName): AsyncGenerator<RowsChunk> {
  const pages = table === "ledger_entry" ? ledgerPages(engine, db) : keyPages(db, table);
  for await (const page of pages)
    for (const rows of inPortions(page)) yield { kind: "rows", table, rows, digest: digestOf(rows) };
}

async function* keyPages(db: Db, table: TableName): AsyncGenerator<Row[]> {
  const columns: readonly string[] = columnsOf(table);
  const { key }: { readonly key: readonly string[] } = TABLES[table];
  const [all, order] = [columns, key].map((some) => sql.join(some.map((column) => sql.ref(column))));
  for (let last: Row | undefined; ; ) {
    const rest = last === undefined ? sql`` : sql`WHERE (${order}) > (${sql.join(last.slice(0, key.length))})`;
    const { rows } = await sql<Record<string, ArchiveValue>>`SELECT ${all} FROM ${sql.table(table)} ${rest}
      ORDER BY ${order} LIMIT ${sql.lit(CHUNK_ROWS)}`.execute(withRawNames(db));
    const page = rows.map((row) => columns.map((column) => row[column] ?? null));
    yield page;
    if (page.length < CHUNK_ROWS) return;
    last = page.at(-1);
  }
}

async function* ledgerPages(engine: Engine, db: Db): AsyncGenerator<Row[]> {
  const columns = columnsOf("ledger_entry");
  for await (const { ledgers } of allLedgers(engine, db))
    yield ledgers.flatMap((ledger) =>
      ledger.entries.map((entry) => {
        const row = entryRow({ key: ledger, plan: ledger.plan, entry });
        return columns.map((column) => row[column]);
      }),
    );
}

function* inPortions(rows: readonly Row[]): Generator<readonly Row[]> {
  let portion: Row[] = [];
  let characters = 0;
  for (const row of rows) {
    portion.push(row);
    for (const value of row) characters += typeof value === "string" ? value.length : 0;
    if (portion.length < CHUNK_ROWS && characters < CHUNK_CHARACTERS) continue;
    yield portion;
    [portion, characters] = [[], 0];
  }
  if (portion.length > 0) yield portion;
}

/**
 * The sum of the rows' hashes, independent of their order. A lost, doubled or changed row changes it, except by a chance of
 * one in 2^64.
 */
export function digestOf(rows: readonly Row[]): bigint {
  let sum = 0n;
  for (const row of rows) {
    const plain = row.map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value));
    sum += createHash("sha256").update(JSON.stringify(plain)).digest().readBigUInt64BE();
  }
  return BigInt.asUintN(64, sum);
}

/** The totals as the database counts them, independent of the rows that are read. */
export async function readTotals(db: Db): Promise<ArchiveTotals> {
  const rows: Record<string, number> = {};
  for (const table of TABLE_NAMES) {
    const counted = await sql<{ count: number }>`SELECT count(*) AS count FROM ${sql.table(table)}`.execute(db);
    rows[table] = Number(counted.rows[0]?.count);
  }
  return { rows, money: (await MONEY.execute(withRawNames(db))).rows.map(toMoneyTotal) };
}

interface MoneyRow {
  readonly partner_id: number;
  readonly environment: Environment;
  readonly service: Service;
  readonly status: TransactionStatus;
  readonly count: number;
  /** The sums of the upper and lower halves of the amounts, as digits: SQLite's sums are limited to 2^63. */
  readonly upper: string;
  readonly lower: string;
}

const HALF = 2 ** 32;

const MONEY = sql<MoneyRow>`SELECT partner_id, environment, service, status, count(*) AS count,
    CAST(sum(amount / ${sql.lit(HALF)}) AS TEXT) AS upper, CAST(sum(amount % ${sql.lit(HALF)}) AS TEXT) AS lower
  FROM top_up GROUP BY partner_id, environment, service, status ORDER BY partner_id, environment, service, status`;

function toMoneyTotal({ partner_id, environment, service, status, count, upper, lower }: MoneyRow): MoneyTotal {
  const amount = BigInt(upper) * BigInt(HALF) + BigInt(lower);
  return { partnerId: partner_id, environment, service, status, topUps: Number(count), amount };
}
