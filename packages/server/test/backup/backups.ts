import { writeBackup } from "../../src/backup/backup-file.ts";
import { digestOf } from "../../src/store/archive.ts";
import type { ArchiveValue } from "../../src/store/engine.ts";
import type { ArchiveChunk } from "../../src/store/store.ts";
import { columnsOf, TABLE_NAMES } from "../../src/store/tables.ts";

type Rows = readonly (readonly ArchiveValue[])[];

export const HEADER = {
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
  const rows = Object.fromEntries(TABLE_NAMES.map((table) => [table, counts[table] ?? 0]));
  const money = { partnerId: 2, environment: "production", service: "tv", status: "success", topUps: 3 } as const;
  return [{ kind: "totals", totals: { rows, money: [{ ...money, amount: 9_000_000_000_090_000n }] } }, ...chunks];
}

/** The values of a row in the order of the table's columns; missing values are null. */
function rowOf(
  table: "checkout_secret" | "partner" | "top_up",
  values: Readonly<Record<string, ArchiveValue>>,
): ArchiveValue[] {
  const columns: readonly string[] = columnsOf(table);
  return columns.map((column) => values[column] ?? null);
}

export async function makeBackup(chunks: readonly ArchiveChunk[] = smallArchive()): Promise<Buffer> {
  return gather(writeBackup(HEADER, each(chunks), new AbortController().signal));
}

/** Splits bytes into pieces of this length. */
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
