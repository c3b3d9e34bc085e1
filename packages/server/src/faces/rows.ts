import type { TSchema } from "typebox";
import { guardCell } from "../csv/writing.ts";
import type { CsvOf, Rows, Said } from "../office/fields.ts";

type Row = Record<string, unknown>;

/** The CSV form of the rows that an operation streams; undefined if it streams none. */
export function csvIn(answer: TSchema | undefined): CsvOf<Row> | undefined {
  const { rows, csv } = (answer ?? {}) as Said;
  if (rows === undefined || csv !== undefined) return csv;
  const header = Object.keys(rows.properties);
  return { header, lines: (row) => [header.map((name) => guardCell(textOf(row[name])))] };
}

/** Pages of rows, for NDJSON and CSV. */
export async function* pagesOf({ lines }: CsvOf<Row>, rows: Rows<Row>) {
  for (let page = await rows.next(); ; page = await rows.next()) {
    if (page.done === true) return page.value;
    const some = page.value;
    yield { rows: some, csv: () => some.flatMap(lines) };
  }
}

function textOf(cell: unknown): string {
  return typeof cell === "string" ? cell : cell == null ? "" : JSON.stringify(cell);
}
