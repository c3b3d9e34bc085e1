import { ENVIRONMENTS } from "../domain/customer.ts";
import { ARCHIVE_TABLES, digestOf } from "../store/archive.ts";
import type { ArchiveChunk, ArchiveTotals, ArchiveValue, MoneyTotal } from "../store/store.ts";
import { BackupRefused } from "./errors.ts";
import { type BackupHeader, headerLine, readHeaderLine } from "./header.ts";

/*
 * A backup as lines of JSON: the header, the totals, the rows in portions with the digest that they had when they
 * were read from the database, and a last line that says how many rows there were.
 */

type RowsChunk = Extract<ArchiveChunk, { kind: "rows" }>;

/** What a reader gets: the header first, and then the archive. */
export type BackupPart = { readonly kind: "header"; readonly header: BackupHeader } | ArchiveChunk;

export async function* writeLines(header: BackupHeader, chunks: AsyncIterable<ArchiveChunk>): AsyncGenerator<string> {
  yield headerLine(header);
  let rows = 0;
  for await (const chunk of chunks) {
    if (chunk.kind === "rows") rows += chunk.rows.length;
    yield chunk.kind === "rows" ? rowsLine(chunk) : totalsLine(chunk.totals);
  }
  yield JSON.stringify({ end: { rows } });
}

/** @throws BackupRefused where the lines are not those of a whole backup that this topupd can read. */
export async function* readLines(lines: AsyncIterable<string>): AsyncGenerator<BackupPart> {
  let [isBegun, hasEnded, rows] = [false, false, 0];
  for await (const line of lines) {
    if (hasEnded) throw new BackupRefused("goes on after its end");
    const parsed = parse(line);
    if (!isBegun) yield { kind: "header", header: readHeaderLine(parsed) };
    else if (isObject(parsed["end"])) {
      if (parsed["end"]["rows"] !== rows) throw new BackupRefused("has lost some of its rows");
      hasEnded = true;
    } else {
      const chunk = isObject(parsed["totals"]) ? readTotals(parsed["totals"]) : readRows(parsed);
      if (chunk.kind === "rows") rows += chunk.rows.length;
      yield chunk;
    }
    isBegun = true;
  }
  if (!hasEnded) throw new BackupRefused("is not whole: its last line is missing");
}

function rowsLine({ table, rows, digest }: RowsChunk): string {
  const plain = rows.map((row) =>
    row.map((value) => (value instanceof Uint8Array ? { hex: Buffer.from(value).toString("hex") } : value)),
  );
  return JSON.stringify({ table, digest: String(digest), rows: plain });
}

function totalsLine({ rows, money }: ArchiveTotals): string {
  return JSON.stringify({ totals: { rows, money: money.map((each) => ({ ...each, amount: String(each.amount) })) } });
}

function readRows({ table, digest, rows }: Json): RowsChunk {
  if (!ARCHIVE_TABLES.some((each) => each === table)) throw notUnderstood();
  const read = listOf(rows).map((row) => listOf(row).map(readValue));
  const chunk = { kind: "rows", table: table as string, rows: read, digest: readDigits(digest) } as const;
  if (digestOf(read) !== chunk.digest)
    throw new BackupRefused(`is altered: the rows of ${chunk.table} are not those that were read from the database`);
  return chunk;
}

function readValue(value: unknown): ArchiveValue {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (Number.isSafeInteger(value)) return value as number;
  const hex = isObject(value) ? value["hex"] : undefined;
  if (typeof hex !== "string" || !/^(?:[0-9a-f]{2})*$/.test(hex)) throw notUnderstood();
  return new Uint8Array(Buffer.from(hex, "hex"));
}

function readTotals({ rows, money }: Json): ArchiveChunk {
  if (!isObject(rows) || !Object.values(rows).every(isCount)) throw notUnderstood();
  const totals = { rows: rows as Readonly<Record<string, number>>, money: listOf(money).map(readMoney) };
  return { kind: "totals", totals };
}

function readMoney(money: unknown): MoneyTotal {
  if (!isObject(money)) throw notUnderstood();
  const { partnerId, environment, service, status, topUps, amount } = money;
  const isKnown = ENVIRONMENTS.some((each) => each === environment) && isCount(partnerId) && isCount(topUps);
  if (!isKnown || typeof service !== "string" || typeof status !== "string") throw notUnderstood();
  return { partnerId, environment, service, status, topUps, amount: readDigits(amount) } as MoneyTotal;
}

type Json = Readonly<Record<string, unknown>>;

function parse(line: string): Json {
  try {
    const value: unknown = JSON.parse(line);
    if (isObject(value)) return value;
  } catch {
    // Said below, as of all other lines that are none of a backup's.
  }
  throw notUnderstood();
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw notUnderstood();
  return value;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function readDigits(value: unknown): bigint {
  if (typeof value !== "string" || !/^\d{1,40}$/.test(value)) throw notUnderstood();
  return BigInt(value);
}

function notUnderstood(): BackupRefused {
  return new BackupRefused("holds a line that no backup has");
}
