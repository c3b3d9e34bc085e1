import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { writeBackup } from "../../src/backup/backup-file.ts";
import type { BackupHeader } from "../../src/backup/header.ts";
import { writeLines } from "../../src/backup/lines.ts";
import { ARCHIVE_COLUMNS, ARCHIVE_TABLES, digestOf } from "../../src/store/archive.ts";
import type { ArchiveChunk, ArchiveValue } from "../../src/store/store.ts";

/* Small backups, and what may become of them. */

type Rows = readonly (readonly ArchiveValue[])[];

export const HEADER: BackupHeader = {
  topupd: "0.1.0",
  takenAt: Date.UTC(2026, 10, 20, 9),
  store: "sqlite",
  timeZone: "Asia/Kathmandu",
  currencyExponent: 2,
  defaultCountry: undefined,
};

export function rowsChunk(table: string, rows: Rows): ArchiveChunk {
  return { kind: "rows", table, rows, digest: digestOf(rows) };
}

/** Two partners, and three top-ups of one of them. */
export function smallArchive(): ArchiveChunk[] {
  const topUp = (id: number, amount: number) =>
    rowOf("top_up", {
      ...{ checkout_id: `c${id}`, txn_id: `t${id}`, partner_id: 2, environment: "production", cuid: "1" },
      ...{ service: "tv", req_id: "00077", bouquet_code: "TV-1M", amount, at: 1_795_000_000_000, status: "success" },
    });
  const secret = rowOf("checkout_secret", { id: 0, key: new Uint8Array(32).fill(7), created_at: 1 });
  const partners = ["wallet", "Ćevap & Söhne\u2028"].map((name, index) =>
    rowOf("partner", { id: index + 1, name, status: "active", created_at: 5 }),
  );
  const chunks = [
    rowsChunk("checkout_secret", [secret]),
    rowsChunk("partner", partners),
    rowsChunk("top_up", [topUp(1, 45_000), topUp(2, 45_000)]),
    rowsChunk("top_up", [topUp(3, 9_000_000_000_000_000)]),
  ];
  const counts: Record<string, number> = { checkout_secret: 1, partner: 2, top_up: 3 };
  const rows = Object.fromEntries(ARCHIVE_TABLES.map((table) => [table, counts[table] ?? 0]));
  const money = { partnerId: 2, environment: "production", service: "tv", status: "success", topUps: 3 } as const;
  return [{ kind: "totals", totals: { rows, money: [{ ...money, amount: 9_000_000_000_090_000n }] } }, ...chunks];
}

/** The values of a row in the order of the table's columns; what is not given is empty. */
function rowOf(
  table: "checkout_secret" | "partner" | "top_up",
  values: Readonly<Record<string, ArchiveValue>>,
): ArchiveValue[] {
  const columns: readonly string[] = ARCHIVE_COLUMNS[table];
  return columns.map((column) => values[column] ?? null);
}

export async function makeBackup(chunks: readonly ArchiveChunk[] = smallArchive(), header = HEADER): Promise<Buffer> {
  return gather(writeBackup(header, each(chunks), new AbortController().signal));
}

export async function linesOf(chunks: readonly ArchiveChunk[] = smallArchive(), header = HEADER): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of writeLines(header, each(chunks))) lines.push(line);
  return lines;
}

/** A file of these lines with a seal that is good, as somebody makes it who wants to be believed. */
export async function sealedAnew(lines: readonly string[]): Promise<Buffer> {
  const packed = gzipSync(lines.map((line) => `${line}\n`).join(""));
  const body = Buffer.concat([(await makeBackup()).subarray(0, BEGINNING_BYTES), packed.subarray(10)]);
  const digest = createHash("sha256").update(body).digest("hex");
  const sealed = Buffer.from(`1f8b08100000000000ff${Buffer.from(`sha256 ${digest}`).toString("hex")}00`, "hex");
  return Buffer.concat([body, sealed, Buffer.from("03000000000000000000", "hex")]);
}

/** A gzip header, and `topupd backup` with a zero. */
const BEGINNING_BYTES = 10 + 14;

/** The bytes, in pieces of so many. */
export async function* inPieces(bytes: Uint8Array, length = 65_536): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += length) yield bytes.subarray(from, from + length);
}

export async function gather(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const gathered: Uint8Array[] = [];
  for await (const piece of pieces) gathered.push(piece);
  return Buffer.concat(gathered);
}

export async function* each<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}
