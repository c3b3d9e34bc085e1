import { createHash } from "node:crypto";
import { addAbortSignal, pipeline, Readable } from "node:stream";
import { createGunzip, createGzip } from "node:zlib";
import { type Instant, isoTime } from "../domain/wall-time.ts";
import { ARCHIVE_COLUMNS, ARCHIVE_TABLES, digestOf } from "../store/archive.ts";
import type { ArchiveChunk, ArchiveTotals, ArchiveValue, MoneyTotal } from "../store/store.ts";

/*
 * Lines in a gzip file, of which the last is a digest of all others: what was cut off, damaged or lost shows, also where
 * gzip's own check would not find it.
 */

/** The bytes of a file, from the first one on. */
export type Bytes = AsyncIterable<Uint8Array>;

/** A file that cannot be taken for a whole backup: the message goes on from the file's name. */
export class BackupRefused extends Error {
  override readonly name = "BackupRefused";
}

/** The fastest: the longer a backup takes, the longer the database has to keep what it still looks at. */
const LEVEL = 1;

/** @param signal ends it with an error, also while a line is awaited. */
export function packLines(lines: AsyncIterable<string>, signal: AbortSignal): Bytes {
  const gzip = addAbortSignal(signal, createGzip({ level: LEVEL }));
  // What fails in it is met by whoever reads it.
  return pipeline(Readable.from(sealed(lines)), gzip, () => {}) as Bytes;
}

/**
 * The lines that were packed. Until they have come to their end, nothing of them can be relied upon.
 * @throws BackupRefused where they are not whole, or not as they were written; what reading the file rejects with.
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
  if (last !== sealOf(hash.digest("hex"))) throw damaged();
}

async function* sealed(lines: AsyncIterable<string>): AsyncGenerator<string> {
  const hash = createHash("sha256");
  for await (const line of lines) {
    hash.update(`${line}\n`);
    yield `${line}\n`;
  }
  yield `${sealOf(hash.digest("hex"))}\n`;
}

function sealOf(sha256: string): string {
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
 * A backup is lines of JSON: the header, the totals, and the rows in portions with the digest that they had when they
 * were read from the database.
 */

/** What a backup says of itself. */
interface BackupHeader {
  /** The version of the topupd that made it. */
  readonly topupd: string;
  /** Everything that was acknowledged before it is in the backup. */
  readonly takenAt: Instant;
  /** The kind of the store that it was taken of: it can be restored into the other as well. */
  readonly store: string;
  readonly timeZone: string;
  readonly currencyExponent: number;
  /** Undefined where the provider has named none. */
  readonly defaultCountry: string | undefined;
}

/** Raised whenever older readers would misread the lines. */
const FORMAT = 1;

/** @param signal ends it with an error. */
export function writeBackup(header: BackupHeader, chunks: AsyncIterable<ArchiveChunk>, signal: AbortSignal): Bytes {
  return packLines(writeLines(header, chunks), signal);
}

/** Whether a file begins as a backup does, of whatever format: then another backup may take its place. */
export async function isBackup(file: Bytes): Promise<boolean> {
  try {
    for await (const line of unpackLines(file)) return isHeader(parse(line));
  } catch (error) {
    if (!(error instanceof BackupRefused)) throw error;
  }
  return false;
}

/**
 * What a backup says of itself, once all of it is known to be as it was written.
 * @throws BackupRefused where it is not, or where this topupd cannot restore it.
 */
export async function readHeader(file: Bytes): Promise<BackupHeader> {
  let first: string | undefined;
  for await (const line of unpackLines(file)) first ??= line;
  return parseHeader(parse(first ?? ""));
}

/**
 * What is stored in the backup. Until it has come to its end, nothing of it can be relied upon.
 * @throws BackupRefused where it is not whole, or not as it was written.
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
  // The columns are a part of what is written: rows are lists of their values.
  yield JSON.stringify({ backup: "topupd", format: FORMAT, takenAt: time, ...facts, tables: ARCHIVE_COLUMNS });
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

/** The seal tells whether a line is as it was written, so that its fields are taken as they are. */
function parseHeader(line: Json): BackupHeader {
  if (!isHeader(line)) throw notUnderstood();
  const { backup: _, format, tables, takenAt, ...facts } = line as unknown as WrittenHeader;
  if (format !== FORMAT || JSON.stringify(tables) !== JSON.stringify(ARCHIVE_COLUMNS))
    throw new BackupRefused(
      `is of another format than this topupd reads: restore it with topupd ${facts.topupd}, which made it, and let this one bring that database up to date`,
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
  if (!ARCHIVE_TABLES.some((each) => each === table)) throw notUnderstood();
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
  /** The names of the partners, by their numbers. */
  readonly partners: ReadonlyMap<number, string>;
}

/**
 * Reads what is stored to its end, without any database.
 * @throws BackupRefused where the rows are not as many as the database had.
 */
export async function countChunks(chunks: AsyncIterable<ArchiveChunk>): Promise<CountedBackup> {
  let totals: ArchiveTotals | undefined;
  const counts = new Map<string, number>();
  const partners = new Map<number, string>();
  const [id, name] = [ARCHIVE_COLUMNS.partner.indexOf("id"), ARCHIVE_COLUMNS.partner.indexOf("name")];
  for await (const chunk of chunks) {
    if (chunk.kind === "totals") totals = chunk.totals;
    else {
      counts.set(chunk.table, (counts.get(chunk.table) ?? 0) + chunk.rows.length);
      if (chunk.table === "partner") for (const row of chunk.rows) partners.set(Number(row[id]), String(row[name]));
    }
  }
  if (totals === undefined) throw notUnderstood();
  for (const table of ARCHIVE_TABLES) {
    const [count = 0, expected = 0] = [counts.get(table), totals.rows[table]];
    if (count !== expected)
      throw new BackupRefused(`is altered: ${table} should have ${expected} rows, and has ${count}`);
  }
  return { totals, partners };
}
