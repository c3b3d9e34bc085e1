import type { FieldProblem, Reading } from "../domain/fields.ts";
import { isJsonObject, type JsonObject, JsonSyntaxError, readJson } from "../domain/json.ts";
import { type Line, readLines } from "./read-lines.ts";

/** A row of a file, whatever its format; or what keeps it from being one. */
export interface SourceRow {
  /** Of the line where it begins, counted from 1, as editors do. */
  readonly line: number;
  readonly value: Reading<JsonObject>;
  /** Where and under which name its file has a field; absent where both are those of the row itself. */
  readonly locate?: (field: string) => { readonly line: number; readonly field: string };
}

/** Reads a file's rows in their order, some at a time. */
export type ReadRows = (pieces: AsyncIterable<Uint8Array>) => AsyncGenerator<readonly SourceRow[]>;

/** A line that is not taken, and why. */
export interface RejectedLine {
  /** Counted from 1, as editors do. */
  readonly line: number;
  readonly problems: readonly FieldProblem[];
}

/** One JSON object on each line. */
export async function* readNdjson(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<readonly SourceRow[]> {
  for await (const lines of readLines(pieces))
    yield lines.map((line) => ({ line: line.number, value: readObject(line) }));
}

/** Reads a row by `read`, if it is one. */
export function readRow<Row>(row: SourceRow, read: (object: JsonObject) => Reading<Row>): Reading<Row> {
  return row.value.ok ? read(row.value.value) : row.value;
}

/** Says of each line of a row what is wrong with it. */
export function rejectedLines({ line, locate }: SourceRow, problems: readonly FieldProblem[]): RejectedLine[] {
  if (locate === undefined) return [{ line, problems }];
  const byLine = new Map<number, FieldProblem[]>();
  for (const { field, problem } of problems) {
    const place = locate(field);
    byLine.set(place.line, [...(byLine.get(place.line) ?? []), { field: place.field, problem }]);
  }
  return [...byLine].sort(([a], [b]) => a - b).map(([number, its]) => ({ line: number, problems: its }));
}

function readObject(line: Line): Reading<JsonObject> {
  if (line.text === undefined) return wholeLine(line.problem);
  try {
    const value = readJson(line.text);
    return isJsonObject(value) ? { ok: true, value } : wholeLine("is not a JSON object");
  } catch (error) {
    if (error instanceof JsonSyntaxError) return wholeLine(error.message);
    throw error;
  }
}

function wholeLine(problem: string): Reading<never> {
  return { ok: false, problems: [{ field: "(line)", problem }] };
}
