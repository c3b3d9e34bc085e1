import { createHash } from "node:crypto";
import type { Service } from "../../domain/bouquet.ts";
import type { Environment } from "../../domain/customer.ts";
import type { TransactionStatus } from "../../domain/top-up.ts";
import type { ArchiveChunk, ArchiveTotals, ArchiveValue, MoneyTotal } from "../store.ts";

/** What a column holds, whatever the database calls it. */
export type ColumnType = "text" | "integer" | "flag" | "bytes" | "json";

/** A table as every store has it. */
export interface ArchiveTable {
  readonly name: string;
  readonly columns: readonly (readonly [name: string, type: ColumnType])[];
}

const CONNECTION = { cuid: "text", environment: "text", service: "text", req_id: "text" } as const;

/** Everything that a database holds, in an order in which no row refers to one that comes later. */
export const ARCHIVE_TABLES: readonly ArchiveTable[] = [
  table("provider", { only_row: "flag", time_zone: "text", currency_exponent: "integer", default_country: "text" }),
  table("zone_rules", { since: "integer", time_zone: "text", rules: "text" }),
  table("retention", { only_row: "flag", pruned_before: "integer" }),
  table("checkout_secret", { id: "integer", key: "bytes", created_at: "integer" }),
  table("partner", { id: "integer", name: "text", status: "text", created_at: "integer", allowed_addresses: "json" }),
  table("access_token", {
    ...{ hash: "bytes", id: "text", partner_id: "integer", environment: "text" },
    ...{ created_at: "integer", expires_at: "integer", revoked_at: "integer", replaced_by: "text" },
  }),
  table("access_token_use", { token_id: "text", last_used_at: "integer" }),
  table("catalogue_revision", { revision: "integer", environment: "text", created_at: "integer" }),
  table("bouquet", {
    ...{ revision: "integer", position: "integer", service: "text", code: "text", name: "text", price: "integer" },
    ...{ segments: "json", plan: "text", add_on: "flag", months: "integer", days: "integer" },
  }),
  table("customer", {
    ...{ cuid: "text", environment: "text", first_name: "text", last_name: "text", mobile: "text", status: "text" },
    mobile_e164: "text",
  }),
  table("customer_code", { code: "text", environment: "text", cuid: "text" }),
  table("connection", {
    ...CONNECTION,
    position: "integer",
    status: "text",
    topped_up: "flag",
    segment: "text",
    blocked: "flag",
  }),
  table("subscription_grant", {
    ...{ ...CONNECTION, plan: "text", seq: "integer", kind: "text", at: "integer", code: "text", name: "text" },
    ...{ add_on: "flag", start_at: "integer", months: "integer", days: "integer", seconds: "integer" },
    ...{ on_top_months: "integer", on_top_days: "integer", checkout_id: "text", granted_end_at: "integer" },
    goodwill_days: "integer",
  }),
  table("subscription", {
    ...{ ...CONNECTION, plan: "text", code: "text", name: "text", add_on: "flag", start_at: "integer" },
    ...{ end_at: "integer", months: "integer", days: "integer", seconds: "integer" },
    ...{ topped_up_months: "integer", topped_up_days: "integer", goodwill_days: "integer" },
    granted_end_at: "integer",
  }),
  table("top_up", {
    ...{ checkout_id: "text", txn_id: "text", partner_id: "integer", ...CONNECTION, bouquet_code: "text" },
    ...{ amount: "integer", at: "integer", status: "text", udf1: "text", udf2: "text", imported: "flag" },
  }),
  table("reversal", {
    ...{ checkout_id: "text", txn_id: "text", partner_id: "integer", environment: "text", service: "text" },
    ...{ bouquet_code: "text", amount: "integer", at: "integer", author: "text", reason: "text" },
  }),
  table("audit_entry", {
    ...{ seq: "integer", at: "integer", author: "text", action: "text", subject: "text", hash: "text" },
    ...{ reason: "text", before: "text", after: "text" },
  }),
  table("retired_checkout", { checkout_id: "text", at: "integer" }),
];

/** Tables that belong to one database alone, and why each stays there. */
export const NOT_ARCHIVED: Readonly<Record<string, string>> = {
  schema_migration: "says how the tables of this database were made",
  reference_version: "counts what the processes on this database were told",
  customer_row: "is where SQLite keeps customer, connection and subscription, which are archived",
  grant_row: "is where SQLite keeps subscription_grant, which is archived",
  ledger_grant: "shows subscription_grant by the ledgers",
};

/** Columns that follow from others of their row, and are made anew. */
export const DERIVED_COLUMNS: readonly string[] = ["customer_digest"];

/** As many rows as a chunk has at most. */
export const CHUNK_ROWS = 1_000;

/** A row as a store reads it, by the names of the columns. */
export type StoredRow = Readonly<Record<string, unknown>>;

/** Of some tables, by their names: the column by which their rows come in order. */
export type RowOrder = Readonly<Record<string, string>>;

/** Rows of a query, however many they are, some at a time. */
export type Pages = (query: string) => AsyncIterable<readonly StoredRow[]> | Iterable<readonly StoredRow[]>;

/**
 * A whole database: what is to be expected of it, and then its rows.
 * @param pages reads on one view of the database, in pages of up to {@link CHUNK_ROWS} rows.
 * @param order by which rows are read, where they would come in another than whoever stores them is quick at.
 */
export async function* readArchive(pages: Pages, order: RowOrder = {}): AsyncGenerator<ArchiveChunk> {
  yield { kind: "totals", totals: await readTotals(pages) };
  for (const archived of ARCHIVE_TABLES) yield* readTable(archived, pages, order[archived.name]);
}

/** The rows of one table. */
export async function* readTable(
  { name, columns }: ArchiveTable,
  pages: Pages,
  order?: string,
): AsyncGenerator<ArchiveRowsChunk> {
  const query = `SELECT ${columns.map(([column]) => column).join(", ")} FROM ${name}`;
  for await (const page of pages(order === undefined ? query : `${query} ORDER BY ${order}`)) {
    const rows = page.map((row) => columns.map(([column, type]) => toArchive(type, row[column])));
    for (const some of inPortions(rows)) yield { kind: "rows", table: name, rows: some, digest: digestOf(some) };
  }
}

/** Entries of the audit trail can be long: a chunk must go into memory, and into a line of a backup. */
const CHUNK_CHARACTERS = 4 * 1024 * 1024;

function* inPortions(rows: ArchiveRowsChunk["rows"]): Generator<ArchiveRowsChunk["rows"]> {
  let from = 0;
  let characters = 0;
  for (const [index, row] of rows.entries()) {
    for (const value of row) characters += typeof value === "string" ? value.length : 0;
    if (characters < CHUNK_CHARACTERS) continue;
    yield rows.slice(from, index + 1);
    [from, characters] = [index + 1, 0];
  }
  if (from < rows.length) yield rows.slice(from);
}

/** What the database itself counts, apart from any reading of its rows. */
export async function readTotals(pages: Pages): Promise<ArchiveTotals> {
  const rows: Record<string, number> = {};
  for (const { name } of ARCHIVE_TABLES) {
    const [row] = await all<{ count: number }>(pages, `SELECT count(*) AS count FROM ${name}`);
    rows[name] = row?.count ?? 0;
  }
  const money = await all<MoneyRow>(pages, MONEY);
  return { rows, money: money.map(toMoneyTotal) };
}

/** All rows of a query that finds few. */
export async function all<Row>(pages: Pages, query: string): Promise<Row[]> {
  const rows: StoredRow[] = [];
  for await (const page of pages(query)) rows.push(...page);
  return rows as Row[];
}

/**
 * Rows added up, in whatever order they come: no row can be lost, doubled or changed without a trace, but by a
 * chance of one in 2^64.
 */
export function digestOf(rows: ArchiveRowsChunk["rows"]): bigint {
  let sum = 0n;
  for (const row of rows) {
    const plain = row.map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value));
    sum += createHash("sha256").update(JSON.stringify(plain)).digest().readBigUInt64BE();
  }
  return BigInt.asUintN(64, sum);
}

type ArchiveRowsChunk = Extract<ArchiveChunk, { kind: "rows" }>;

interface MoneyRow {
  partner_id: number;
  environment: Environment;
  service: Service;
  status: TransactionStatus;
  count: number;
  /** Digits of the sum of the amounts' upper halves, and of their lower ones: SQLite adds up to no more than 2^63. */
  upper: string;
  lower: string;
}

const HALF = 2 ** 32;

const MONEY = `SELECT partner_id, environment, service, status, count(*) AS count,
    CAST(sum(amount / ${HALF}) AS TEXT) AS upper, CAST(sum(amount % ${HALF}) AS TEXT) AS lower
  FROM top_up GROUP BY partner_id, environment, service, status ORDER BY partner_id, environment, service, status`;

function toMoneyTotal({ partner_id, environment, service, status, count, upper, lower }: MoneyRow): MoneyTotal {
  const amount = BigInt(upper) * BigInt(HALF) + BigInt(lower);
  return { partnerId: partner_id, environment, service, status, topUps: count, amount };
}

function toArchive(type: ColumnType, value: unknown): ArchiveValue {
  if (value === null) return null;
  if (type === "flag") return Boolean(value);
  // Databases that read JSON write it with blanks of their own.
  if (type === "json") return JSON.stringify(JSON.parse(value as string));
  return value as ArchiveValue;
}

function table(name: string, columns: Readonly<Record<string, ColumnType>>): ArchiveTable {
  return { name, columns: Object.entries(columns) };
}
