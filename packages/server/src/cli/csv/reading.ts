import { Readable } from "node:stream";
import { CsvError, parse } from "csv-parse";
import type { FieldProblem } from "../../domain/fields.ts";
import { CommandFailed } from "../runtime.ts";
import { isShortened, unguardCell } from "./cells.ts";

/** A row, and the lines of the file that it takes, counted from 1 as editors do. */
export interface NumberedRow {
  readonly cells: readonly string[];
  readonly first: number;
  readonly last: number;
}

export interface RowOptions {
  readonly delimiter: string;
  /** A longer row is none: a quote that is never closed would swallow the rest of the file. */
  readonly maxCharacters: number;
  /** Whether a file is refused that is not UTF-8; otherwise what is none reads as U+FFFD. */
  readonly mustBeUtf8: boolean;
}

/**
 * The rows of a CSV file as RFC 4180 has them: with or without byte order mark, with any kind of line end, without the
 * rows that are empty. @throws CommandFailed where it is none.
 */
export async function* readRows(
  pieces: AsyncIterable<Uint8Array>,
  { delimiter, maxCharacters, mustBeUtf8 }: RowOptions,
): AsyncGenerator<NumberedRow> {
  /** The line on which the last good row ends, though nobody has asked for it yet. */
  let last = 0;
  const parser = parse({
    ...{ bom: true, info: true, relax_column_count: true, skip_empty_lines: true },
    ...{ delimiter, record_delimiter: "\n", max_record_size: maxCharacters },
    on_record: (row) => {
      last = (row as unknown as ParsedRow).info.lines;
      return row;
    },
  });
  const source = Readable.from(withLineFeeds(decode(pieces, mustBeUtf8)));
  source.on("error", (error) => parser.destroy(error));
  try {
    for await (const { record, info } of source.pipe(parser) as AsyncIterable<ParsedRow>) {
      const breaks = record.reduce((sum, cell) => sum + (cell.includes("\n") ? cell.split("\n").length - 1 : 0), 0);
      yield { cells: record, first: info.lines - breaks, last: info.lines };
    }
  } catch (error) {
    if (error instanceof CsvError) throw new CommandFailed(whyNoCsv(error, last, maxCharacters));
    throw error;
  } finally {
    source.destroy();
  }
}

/** As the parser hands it on where it was asked for `info`. */
interface ParsedRow {
  readonly record: readonly string[];
  readonly info: { readonly lines: number };
}

async function* decode(pieces: AsyncIterable<Uint8Array>, fatal: boolean): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal, ignoreBOM: true });
  try {
    for await (const piece of pieces) yield decoder.decode(piece, { stream: true });
    yield decoder.decode();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new CommandFailed('the file is not UTF-8: in a spreadsheet, save it as "CSV UTF-8"');
  }
}

/** Every kind of line end as a line feed: within quotes, the parser would count others twice. */
async function* withLineFeeds(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let held = "";
  for await (const text of texts) {
    const whole = held + text;
    // Its line feed may come with the next text.
    held = whole.endsWith("\r") ? "\r" : "";
    yield whole.slice(0, whole.length - held.length).replace(/\r\n?/g, "\n");
  }
  if (held !== "") yield "\n";
}

/** @param last the line on which the last good row ends. */
function whyNoCsv({ code }: CsvError, last: number, maxCharacters: number): string {
  const row = `the row after line ${last}`;
  if (code === "CSV_MAX_RECORD_SIZE")
    return `${row} is longer than ${maxCharacters} characters: is a quote not closed?`;
  if (code === "CSV_QUOTE_NOT_CLOSED") return `the file ends within a quote that is not closed: it is in ${row}`;
  return `${row} is no CSV: a quote stands where none can be; in a cell, it is written twice and the cell in quotes`;
}

/** A line below the header, by its columns; what is empty is left out. */
export interface CsvLine {
  readonly line: number;
  readonly header: readonly string[];
  readonly cells: ReadonlyMap<string, string>;
  readonly problems: readonly FieldProblem[];
}

/** Lines that are handed on together. */
const LINES_AT_ONCE = 500;
/** As much as a line of NDJSON may have. */
const LINE_MAX_CHARACTERS = 256 * 1024;
/**
 * The lines of a CSV file below a header that names known columns in any order.
 * @throws CommandFailed where the file is none, or its header names another column.
 */
export async function* readCsvLines(
  pieces: AsyncIterable<Uint8Array>,
  columns: readonly string[],
): AsyncGenerator<readonly CsvLine[]> {
  const options = { delimiter: ",", maxCharacters: LINE_MAX_CHARACTERS, mustBeUtf8: true };
  let header: readonly string[] | undefined;
  let lines: CsvLine[] = [];
  for await (const row of readRows(pieces, options)) {
    if (header === undefined) header = readHeader(row.cells, columns);
    else lines.push(readLine(row, header));
    if (lines.length < LINES_AT_ONCE) continue;
    yield lines;
    lines = [];
  }
  if (lines.length > 0) yield lines;
}

function readHeader(cells: readonly string[], columns: readonly string[]): readonly string[] {
  const names = cells.map((cell) => cell.trim());
  const known = `the first line must name columns out of ${columns.join(",")}`;
  const strange = names.find((name) => !columns.includes(name));
  if (strange !== undefined)
    throw new CommandFailed(`${known}, with commas between them, but has ${JSON.stringify(strange.slice(0, 64))}`);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new CommandFailed(`${known}, each once, but has ${twice} twice`);
  return names;
}

function readLine({ cells: row, first: line }: NumberedRow, header: readonly string[]): CsvLine {
  const cells = new Map<string, string>();
  const problems: FieldProblem[] = [];
  if (row.length !== header.length)
    problems.push({ field: "(line)", problem: `has ${row.length} cells, and the header ${header.length}` });
  for (const [index, name] of header.entries()) {
    const written = row[index] ?? "";
    const cell = unguardCell(written);
    if (cell !== "") cells.set(name, cell);
    if (isShortened(written))
      problems.push({
        field: name,
        problem: "is a number that a spreadsheet has shortened: make the column text there",
      });
  }
  return { line, header, cells, problems };
}

/** What a cell holds, a value on each of its lines. */
export function linesOf(cell: string | undefined): string[] {
  return cell === undefined ? [] : cell.split("\n");
}
