import { createHash } from "node:crypto";
import { addAbortSignal, pipeline, Readable } from "node:stream";
import { createGunzip, createGzip } from "node:zlib";
import { type Instant, isoTime } from "../domain/wall-time.ts";
import { digestOf } from "../store/archive.ts";
import type { ArchiveValue } from "../store/engine.ts";
import { MADE_BEFORE_RELEASE } from "../store/errors.ts";
import type { ArchiveChunk, ArchiveTotals, MoneyTotal } from "../store/store.ts";
import { columnsOf, TABLE_NAMES } from "../store/tables.ts";

/*
 * A backup is a gzip file of lines. The last line is a checksum of all others, so that a cut or damaged file is detected
 * even if gzip's own check passes.
 */

export type Bytes = AsyncIterable<Uint8Array>;

/** The file is not a complete backup. The message continues a sentence that begins with the file's name. */
export class BackupRefused extends Error {
  override readonly name = "BackupRefused";
}

/** Rows are lists of values, so the header contains the columns. */
const COLUMNS = Object.fromEntries(TABLE_NAMES.map((table) => [table, columnsOf(table)]));

/** The fastest level: a long backup makes the database keep old data for long. */
const LEVEL = 1;

/** @param signal ends the stream with an error, even while it waits for a line. */
export function packLines(lines: AsyncIterable<string>, signal: AbortSignal): Bytes {
  const gzip = addAbortSignal(signal, createGzip({ level: LEVEL }));
  // The reader gets the error of a failed stream.
  return pipeline(Readable.from(withChecksum(lines)), gzip, () => {}) as Bytes;
}

/**
 * Yields the packed lines. Do not rely on them before the last line is read: only then is the checksum known.
 * @throws BackupRefused if the lines are incomplete or altered, and errors of reading the file.
 */
async function* unpackLines(file: Bytes): AsyncGenerator<string> {
  const hash = createHash("sha256");
  let last: string | undefined;
  for await (const line of gunzipLines(file)) {
    if (last !== undefined) {
      hash.update(`${last}\n`);
      yield last;
    }
    last = line;
  }
  if (last !== checksumLine(hash.digest("hex"))) throw damaged();
}

async function* withChecksum(lines: AsyncIterable<string>): AsyncGenerator<string> {
  const hash = createHash("sha256");
  for await (const line of lines) {
    hash.update(`${line}\n`);
    yield `${line}\n`;
  }
  yield `${checksumLine(hash.digest("hex"))}\n`;
}

function checksumLine(sha256: string): string {
  return JSON.stringify({ sha256 });
}

async function* gunzipLines(file: Bytes): AsyncGenerator<string> {
  let rest = "";
  try {
    const texts = pipeline(Readable.from(file), createGunzip(), () => {}).setEncoding("utf8");
    for await (const text of texts as AsyncIterable<string>) {
      const lines = `${rest}${text}`.split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
    }
  } catch (error) {
    if (!(error instanceof Error && "code" in error && String(error.code).startsWith("Z_"))) throw error;
    throw damaged(error);
  }
  if (rest !== "") throw damaged();
}

function damaged(cause?: unknown): BackupRefused {
  return new BackupRefused("is no whole backup of topupd: it is cut off, damaged or something else", { cause });
}

/*
 * The lines are JSON: the header, the totals, and portions of rows, each with its digest from the reading of the database.
 */

interface BackupHeader {
  /** The version of topupd that made the backup. */
  readonly topupd: string;
  /** The backup contains everything acknowledged before this time. */
  readonly takenAt: Instant;
  /** The kind of the store: the backup can be restored into the other kind too. */
  readonly store: string;
  readonly timeZone: string;
  readonly currencyExponent: number;
  readonly defaultCountry: string | undefined;
}

/** Raise it if older readers would misread the lines. */
const FORMAT = 1;

/** @param signal ends the stream with an error. */
export function writeBackup(header: BackupHeader, chunks: AsyncIterable<ArchiveChunk>, signal: AbortSignal): Bytes {
  return packLines(writeLines(header, chunks), signal);
}

/** Whether a file begins like a backup of any format, so that a new backup may replace it. */
export async function isBackup(file: Bytes): Promise<boolean> {
  try {
    for await (const line of unpackLines(file)) return isHeader(parse(line));
  } catch (error) {
    if (!(error instanceof BackupRefused)) throw error;
  }
  return false;
}

/**
 * Reads the header, after it has checked the whole file.
 * @param version that of this topupd.
 * @throws BackupRefused if the file is altered, or this topupd cannot restore it.
 */
export async function readHeader(file: Bytes, version: string): Promise<BackupHeader> {
  let first: string | undefined;
  for await (const line of unpackLines(file)) first ??= line;
  return parseHeader(parse(first ?? ""), version);
}

/**
 * Yields the stored data. Do not rely on it before the end is read.
 * @throws BackupRefused if the file is incomplete or altered.
 */
export async function* readChunks(file: Bytes): AsyncGenerator<ArchiveChunk> {
  let isHeaderRead = false;
  for await (const line of unpackLines(file)) {
    if (isHeaderRead) yield parseChunk(parse(line));
    isHeaderRead = true;
  }
}

async function* writeLines(header: BackupHeader, chunks: AsyncIterable<ArchiveChunk>): AsyncGenerator<string> {
  const { takenAt, ...facts } = header;
  const time = isoTime(takenAt);
  yield JSON.stringify({ backup: "topupd", format: FORMAT, takenAt: time, ...facts, tables: COLUMNS });
  for await (const chunk of chunks) yield chunk.kind === "rows" ? rowsLine(chunk) : totalsLine(chunk.totals);
}

interface WrittenHeader extends Omit<BackupHeader, "takenAt"> {
  readonly backup: "topupd";
  readonly format: number;
  readonly takenAt: string;
  readonly tables: unknown;
}

interface WrittenTotals {
  readonly rows: Readonly<Record<string, number>>;
  readonly money: readonly (Omit<MoneyTotal, "amount"> & { readonly amount: string })[];
}

type WrittenValue = Exclude<ArchiveValue, Uint8Array> | { readonly hex: string };

type Json = Readonly<Record<string, unknown>>;

function parse(line: string): Json {
  try {
    return Object(JSON.parse(line)) as Json;
  } catch (cause) {
    throw notUnderstood(cause);
  }
}

function isHeader({ backup }: Json): boolean {
  return backup === "topupd";
}

/** The checksum has shown that the line is unaltered, so its fields are not checked again. */
function parseHeader(line: Json, version: string): BackupHeader {
  if (!isHeader(line)) throw notUnderstood();
  const { backup: _, format, tables, takenAt, ...facts } = line as unknown as WrittenHeader;
  if (format !== FORMAT || JSON.stringify(tables) !== JSON.stringify(COLUMNS))
    throw new BackupRefused(
      facts.topupd === version
        ? MADE_BEFORE_RELEASE
        : `is of another format than this topupd reads: restore it with topupd ${facts.topupd}, which made it, and let this one bring that database up to date`,
    );
  return { ...facts, takenAt: Date.parse(takenAt) };
}

function rowsLine({ table, rows, digest }: Extract<ArchiveChunk, { kind: "rows" }>): string {
  const plain = rows.map((row) =>
    row.map((value) => (value instanceof Uint8Array ? { hex: Buffer.from(value).toString("hex") } : value)),
  );
  return JSON.stringify({ table, digest: String(digest), rows: plain });
}

function totalsLine({ rows, money }: ArchiveTotals): string {
  return JSON.stringify({ totals: { rows, money: money.map((each) => ({ ...each, amount: String(each.amount) })) } });
}

function parseChunk(line: Json): ArchiveChunk {
  if ("totals" in line) {
    const { rows, money } = line["totals"] as WrittenTotals;
    return { kind: "totals", totals: { rows, money: money.map((each) => ({ ...each, amount: BigInt(each.amount) })) } };
  }
  const { table, digest, rows } = line as { table: string; digest: string; rows: readonly (readonly WrittenValue[])[] };
  if (!TABLE_NAMES.some((each) => each === table)) throw notUnderstood();
  const read = rows.map((row) => row.map(readValue));
  if (digestOf(read) !== BigInt(digest))
    throw new BackupRefused(`is altered: the rows of ${table} are not those that were read from the database`);
  return { kind: "rows", table, rows: read, digest: BigInt(digest) };
}

function readValue(value: WrittenValue): ArchiveValue {
  return typeof value === "object" && value !== null ? new Uint8Array(Buffer.from(value.hex, "hex")) : value;
}

function notUnderstood(cause?: unknown): BackupRefused {
  return new BackupRefused("does not hold what a backup of topupd holds", { cause });
}

interface CountedBackup {
  readonly totals: ArchiveTotals;
  /** The partners' names by their ids. */
  readonly partners: ReadonlyMap<number, string>;
}

/**
 * Reads the stored data to its end, without a database.
 * @throws BackupRefused if the number of rows differs from the database's.
 */
export async function countChunks(chunks: AsyncIterable<ArchiveChunk>): Promise<CountedBackup> {
  let totals: ArchiveTotals | undefined;
  const counts = new Map<string, number>();
  const partners = new Map<number, string>();
  const [id, name] = [columnsOf("partner").indexOf("id"), columnsOf("partner").indexOf("name")];
  for await (const chunk of chunks) {
    if (chunk.kind === "totals") {
      totals = chunk.totals;
      continue;
    }
    counts.set(chunk.table, (counts.get(chunk.table) ?? 0) + chunk.rows.length);
    if (chunk.table !== "partner") continue;
    for (const row of chunk.rows) partners.set(Number(row[id]), String(row[name]));
  }
  if (totals === undefined) throw notUnderstood();
  refuseOtherCounts(counts, totals);
  return { totals, partners };
}

function refuseOtherCounts(counts: ReadonlyMap<string, number>, { rows }: ArchiveTotals): void {
  for (const table of TABLE_NAMES) {
    const [count = 0, expected = 0] = [counts.get(table), rows[table]];
    if (count !== expected)
      throw new BackupRefused(`is altered: ${table} should have ${expected} rows, and has ${count}`);
  }
}
