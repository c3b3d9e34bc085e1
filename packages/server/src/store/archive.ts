import { createHash } from "node:crypto";
import { sql } from "kysely";
import type { Service } from "../domain/bouquet.ts";
import type { Environment } from "../domain/customer.ts";
import type { TransactionStatus } from "../domain/transaction.ts";
import { AUDIT_COLUMNS } from "./audit.ts";
import { allLedgers } from "./customers.ts";
import type { ArchiveValue, Db, Writers } from "./engine.ts";
import { type Engine, withRawNames } from "./engine.ts";
import { EVENT_COLUMNS } from "./events.ts";
import { CONNECTION_STATE, ENTRY_COLUMNS, entryRow, HEAD_COLUMNS, LEDGER_KEY, TOP_UP_COLUMNS } from "./rows.ts";
import type { ArchiveChunk, ArchiveTotals, ArchiveWork, MoneyTotal } from "./store.ts";
import type { RawTables } from "./tables.ts";

type ColumnsOf = { readonly [Table in keyof RawTables]: readonly (keyof RawTables[Table])[] };

/** All archived tables and columns. No row refers to a row of a later table. */
export const ARCHIVE_COLUMNS: ColumnsOf = {
  provider: ["only_row", "time_zone", "currency_exponent", "default_country"],
  retention: ["only_row", "pruned_before"],
  checkout_secret: ["id", "key", "created_at"],
  partner: ["id", "name", "status", "created_at", "allowed_addresses", "certified_at", "limits", "commission"],
  access_token: ["hash", "id", "partner_id", "environment", "created_at", "expires_at", "revoked_at", "replaced_by"],
  access_token_use: ["token_id", "last_used_at"],
  catalogue_revision: ["revision", "environment", "created_at"],
  bouquet: ["revision", "position", "service", "code", "name", "price", "segments", "plan", "add_on", "months", "days"],
  customer: ["cuid", "environment", "first_name", "last_name", "mobile", "mobile_e164", "status", "as_of"],
  customer_code: ["code", "environment", "cuid"],
  customer_term: ["environment", "term", "cuid"],
  connection: ["cuid", "environment", "service", "req_id", "name_key", "position", ...CONNECTION_STATE],
  subscription: [...LEDGER_KEY, ...HEAD_COLUMNS],
  ledger_entry: [...LEDGER_KEY, ...ENTRY_COLUMNS],
  top_up: TOP_UP_COLUMNS,
  reversal: ["txn_id", "at", "wall", "author", "reason"],
  connection_block: ["cuid", "environment", "service", "req_id", "at", "wall", "author", "reason"],
  retired_checkout: ["checkout_id", "at"],
  account: ["partner_id", "environment", "credit_limit", "alert_below", "balance", "day", "day_top_ups", "day_amount"],
  account_entry: ["partner_id", "environment", "reference", "kind", "amount", "reason", "author", "at", "wall"],
  account_day: [
    "partner_id",
    "environment",
    "day",
    "top_ups",
    "gross",
    "commission",
    "reversals",
    "reversed",
    "returned",
  ],
  audit_entry: AUDIT_COLUMNS,
  target: ["id", "name", "config", "secrets", "billing", "paused", "created_at", "resent_at", "place"],
  event: EVENT_COLUMNS,
  delivery: ["target_id", "seq", "attempts", "failed_at", "next_at", "set_aside", "problem"],
  delivery_log: ["target_id", "at", "seq", "attempt", "status", "request", "answer", "problem", "duration_ms"],
  alert: ["kind", "partner_id", "environment", "limit_name", "at", "ends_at", "mailed_at", "balance", "below"],
  lease: ["name", "holder", "held_until"],
  ends_told: ["only_row", "told_until"],
  refused_call: ["id", "at", "partner_id", "environment", "operation", "reason", "detail", "code", "request_id"],
  trial_call: [
    "id",
    "at",
    "ms",
    "partner_id",
    "version",
    "operation",
    "cuid",
    "service",
    "req_id",
    "checkout_id",
    "bouquet_id",
    "amount",
    "outcome",
    "retry_after",
    "request_id",
  ],
  practice_checkout: ["checkout_id", "calls", "at", "reverse_at"],
  staff: [
    ...([
      "id",
      "name",
      "role",
      "password",
      "totp_secret",
      "totp_step",
      "recovery_codes",
      "networks",
      "created_at",
    ] as const),
    ...(["last_log_in_at", "must_change_password", "oidc_subject"] as const),
  ],
  staff_session: ["hash", "id", "staff_id", "created_at", "last_used_at", "address", "user_agent", "authenticated_at"],
  log_in_failure: ["id", "at", "name", "source"],
  staff_key: ["hash", "name", "role", "created_at", "last_used_at"],
  staff_answer: ["hash", "owner", "request", "at", "status", "body"],
  staff_day: ["author", "day", "goodwill_days", "bulk_connections"],
  approval: [
    "id",
    "kind",
    "subject",
    "environment",
    "reason",
    "requested_by",
    "requested_at",
    "state",
    "decided_by",
    "decided_at",
    "refusal",
  ],
  import_run: [
    "id",
    "kind",
    "environment",
    "author",
    "file",
    "as_of",
    "started_at",
    "ended_at",
    "outcome",
    "report",
    "problem",
  ],
  held_back: [
    "id",
    ...LEDGER_KEY,
    "code",
    "kept_end",
    "stated_end",
    "txn_id",
    "goodwill_days",
    "goodwill_at",
    "lacking_end",
    "line",
    "source_row",
  ],
  bulk_run: [
    "id",
    "environment",
    "action",
    "days",
    "plan",
    "reason",
    "author",
    "staff_id",
    "role",
    "key_hash",
    "state",
    "created_at",
    "started_at",
    "changed_at",
    "lines",
    "count",
    "repeated",
    "problems",
    "place",
    "done",
    "problem",
  ],
  bulk_line: ["run_id", "number", "line", "text", "whole", "cuid", "service", "req_id", "problem"],
  check_passed: ["only_row", "at"],
  backup_taken: ["only_row", "at"],
};

export const ARCHIVE_TABLES = Object.keys(ARCHIVE_COLUMNS) as readonly (keyof RawTables)[];

/** The number of first columns that are the unique key of a table; 1 if it is not listed. */
const KEY_COLUMNS: Readonly<Partial<Record<keyof RawTables, number>>> = {
  bouquet: 2,
  customer: 2,
  customer_code: 3,
  customer_term: 3,
  connection: 4,
  subscription: 5,
  account: 2,
  account_entry: 3,
  account_day: 3,
  delivery: 2,
  delivery_log: 3,
  bulk_line: 2,
};

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
  for (const table of ARCHIVE_TABLES) yield* readTable(engine, db, table);
}

/** The rows of one table. The entries of a ledger come together, in the order of their numbers. */
export async function* readTable(engine: Engine, db: Db, table: keyof RawTables): AsyncGenerator<RowsChunk> {
  const pages = table === "ledger_entry" ? ledgerPages(engine, db) : keyPages(db, table);
  for await (const page of pages)
    for (const rows of inPortions(page)) yield { kind: "rows", table, rows, digest: digestOf(rows) };
}

async function* keyPages(db: Db, table: keyof RawTables): AsyncGenerator<Row[]> {
  const columns: readonly string[] = ARCHIVE_COLUMNS[table];
  const key = columns.slice(0, KEY_COLUMNS[table] ?? 1);
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
  for await (const { ledgers } of allLedgers(engine, db))
    yield ledgers.flatMap((ledger) =>
      ledger.entries.map((entry) => {
        const { cuid, environment, service, reqId, plan } = ledger;
        const row = entryRow(entry);
        return [cuid, environment, service, reqId, plan, ...ENTRY_COLUMNS.map((column) => row[column])];
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
  for (const table of ARCHIVE_TABLES) {
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
