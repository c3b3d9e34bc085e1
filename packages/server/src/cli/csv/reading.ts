import { Readable } from "node:stream";
import { CsvError, parse } from "csv-parse";
import type { FieldProblem } from "../../domain/fields.ts";
import type { SourceRow } from "../../operations/source-rows.ts";
import { CommandFailed } from "../runtime.ts";
import { isShortened, unguardCell } from "./cells.ts";
import { LineNumbers, type NumberedRow } from "./line-numbers.ts";

/** A line below the header, by its columns; what is empty is left out. */
export interface CsvLine {
  readonly line: number;
  readonly cells: ReadonlyMap<string, string>;
  readonly problems: readonly FieldProblem[];
}

/** Lines that are handed on together. */
const LINES_AT_ONCE = 500;
/** What spreadsheets write instead of commas where those stand in decimals. */
const SEPARATORS = [
  [";", "semicolons"],
  ["\t", "tabs"],
] as const;
/** As much as a line of NDJSON may have. */
const LINE_MAX_CHARACTERS = 256 * 1024;

/**
 * The lines of a CSV file as RFC 4180 has them, below a header that names known columns in any order.
 * @throws CommandFailed where the file is none, or its header names another column.
 */
export async function* readCsvLines(
  pieces: AsyncIterable<Uint8Array>,
  columns: readonly string[],
): AsyncGenerator<readonly CsvLine[]> {
  const numbers = new LineNumbers();
  const parser = parse({
    ...{ bom: true, info: true, relax_column_count: true, skip_empty_lines: true },
    ...{ record_delimiter: ["\r\n", "\n", "\r"], max_record_size: LINE_MAX_CHARACTERS },
    on_record: (row) => numbers.of(row as never) as never,
  });
  const source = Readable.from(decode(pieces));
  source.on("error", (error) => parser.destroy(error));
  let header: readonly string[] | undefined;
  let lines: CsvLine[] = [];
  try {
    for await (const { record, first } of source.pipe(parser) as AsyncIterable<NumberedRow>) {
      if (header === undefined) {
        header = readHeader(record, columns);
        continue;
      }
      lines.push(readLine(record, header, first));
      if (lines.length < LINES_AT_ONCE) continue;
      yield lines;
      lines = [];
    }
  } catch (error) {
    if (error instanceof CsvError) throw new CommandFailed(whyNoCsv(error, numbers, LINE_MAX_CHARACTERS));
    throw error;
  } finally {
    source.destroy();
  }
  if (lines.length > 0) yield lines;
}

async function* decode(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  try {
    for await (const piece of pieces) yield decoder.decode(piece, { stream: true });
    yield decoder.decode();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new CommandFailed('the file is not UTF-8: in a spreadsheet, save it as "CSV UTF-8"');
  }
}

function readHeader(record: readonly string[], columns: readonly string[]): readonly string[] {
  const names = record.map((cell) => cell.trim());
  const known = `the first line must name columns out of ${columns.join(",")}`;
  const strange = names.find((name) => !columns.includes(name));
  if (strange !== undefined) {
    const between = SEPARATORS.find(([separator]) => columns.includes(strange.split(separator)[0]?.trim() ?? ""));
    if (between !== undefined) throw new CommandFailed(`${known}, with commas between them, but has ${between[1]}`);
    throw new CommandFailed(`${known}, but has ${JSON.stringify(strange.slice(0, 64))}`);
  }
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new CommandFailed(`${known}, each once, but has ${twice} twice`);
  return names;
}

function readLine(record: readonly string[], header: readonly string[], line: number): CsvLine {
  const cells = new Map<string, string>();
  const problems: FieldProblem[] = [];
  if (record.length !== header.length)
    problems.push({ field: "(line)", problem: `has ${record.length} cells, and the header ${header.length}` });
  for (const [index, name] of header.entries()) {
    const written = record[index] ?? "";
    const cell = unguardCell(written);
    if (cell !== "") cells.set(name, cell);
    if (isShortened(written))
      problems.push({
        field: name,
        problem: "is a number that a spreadsheet has shortened: make the column text there",
      });
  }
  return { line, cells, problems };
}

/** What is wrong with a file that the parser gave up. */
export function whyNoCsv(error: CsvError, numbers: LineNumbers, rowMaxCharacters: number): string {
  const line = numbers.whereItFailed(error);
  if (error.code === "CSV_MAX_RECORD_SIZE")
    return `the row that begins at line ${line} is longer than ${rowMaxCharacters} characters: is a quote not closed?`;
  if (error.code === "CSV_QUOTE_NOT_CLOSED")
    return `the file ends within a quote that is not closed: it is in the row that begins at line ${line}`;
  return `line ${line} is no CSV: a quote stands where none can be; in a cell, it is written twice and the cell in quotes`;
}

/** What a cell holds, a value on each of its lines. */
export function linesOf(cell: string | undefined): string[] {
  return cell === undefined ? [] : cell.split(/\r\n|\r|\n/);
}

/** `true` and `false` as such; a reader refuses anything else. */
export function flagOf(cell: string | undefined): boolean | string | undefined {
  const word = cell?.toLowerCase();
  return word === "true" || word === "false" ? word === "true" : cell;
}

/** A row without what is undefined. */
export function objectOf(
  fields: Readonly<Record<string, unknown>>,
): Extract<SourceRow["value"], { ok: true }>["value"] {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
