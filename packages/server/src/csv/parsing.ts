/* Rows of CSV (RFC 4180). A line that is none is yielded with its problem, and the next line begins a new row. */

/** A row and the number of its first line in the file, from 1. */
export interface ParsedRow {
  readonly line: number;
  /** Empty if the row has a problem. */
  readonly cells: readonly string[];
  readonly problem?: string;
}

/** Longest row: an unclosed quote would otherwise swallow the rest of the file. */
const ROW_MAX_CHARACTERS = 256 * 1024;

/** Reads the rows of a CSV file, without empty ones. A line end inside quotes is `\n`. */
export async function* readRows(pieces: AsyncIterable<Uint8Array>, delimiter: string): AsyncGenerator<ParsedRow> {
  let line = 1;
  let lines: string[] = [];
  const takeRows = function* (isEnd: boolean): Generator<ParsedRow> {
    let at = 0;
    while (at < lines.length) {
      const row = takeRow(lines, at, delimiter) ?? (isEnd ? NO_ROW : undefined);
      if (row === undefined) break;
      const { lines: taken, ...rest } = row;
      if (lines[at] !== "") yield { line, ...rest };
      at += taken;
      line += taken;
    }
    lines = lines.slice(at);
  };
  for await (const some of linesOf(pieces)) {
    lines = lines.length === 0 ? some : [...lines, ...some];
    yield* takeRows(false);
  }
  yield* takeRows(true);
}

type TakenRow = Omit<ParsedRow, "line"> & { readonly lines: number };

const NO_ROW: TakenRow = { lines: 1, cells: [], problem: "is no CSV: a quote must enclose a whole cell" };
const TOO_LONG: TakenRow = { lines: 1, cells: [], problem: `is longer than ${ROW_MAX_CHARACTERS} characters` };

/** Takes the row that begins with a line; undefined if its quote is still open at the end of the lines. */
function takeRow(lines: readonly string[], from: number, delimiter: string): TakenRow | undefined {
  const first = lines[from] as string;
  if (first.length + 1 > ROW_MAX_CHARACTERS) return TOO_LONG;
  if (!first.includes('"')) return { lines: 1, cells: first.split(delimiter) };
  return takeQuotedRow(lines, from, delimiter);
}

/** Takes a row with quotes, which can contain line ends. */
function takeQuotedRow(lines: readonly string[], from: number, delimiter: string): TakenRow | undefined {
  let quotes = 0;
  let length = 0;
  for (let to = from; to < lines.length; to += 1) {
    const line = lines[to] as string;
    length += line.length + 1;
    if (length > ROW_MAX_CHARACTERS) return NO_ROW;
    quotes += line.split('"').length - 1;
    // A row whose quote is open has an odd number of quotes. The first line is always read: it may be no CSV.
    if (quotes % 2 === 1 && to > from) continue;
    const cells = cellsOf(lines.slice(from, to + 1).join("\n"), delimiter);
    if (cells === undefined) return NO_ROW;
    if (cells !== "open") return { lines: to - from + 1, cells };
  }
  return undefined;
}

/** The cells of a row; `open` if a quote is not closed, undefined if a quote is at a wrong place. */
function cellsOf(row: string, delimiter: string): string[] | "open" | undefined {
  const cells: string[] = [];
  for (let at = 0; ; at += delimiter.length) {
    const cell = cellAt(row, at, delimiter);
    if (cell === undefined || cell === "open") return cell;
    cells.push(cell.text);
    if (cell.end === row.length) return cells;
    if (!row.startsWith(delimiter, cell.end)) return undefined;
    at = cell.end;
  }
}

interface Cell {
  readonly text: string;
  /** The place after its last character in the row. */
  readonly end: number;
}

function cellAt(row: string, at: number, delimiter: string): Cell | "open" | undefined {
  if (row.startsWith('"', at)) return quotedCell(row, at);
  if (row.startsWith('="', at)) return guardedCell(row, at);
  return plainCell(row, at, delimiter);
}

function quotedCell(row: string, at: number): Cell | "open" {
  const closing = closingQuote(row, at);
  if (closing === -1) return "open";
  return { text: row.slice(at + 1, closing).replaceAll('""', '"'), end: closing + 1 };
}

/** A spreadsheet's `="00123"` is a cell without quotes. */
function guardedCell(row: string, at: number): Cell | undefined {
  const closing = row.indexOf('"', at + 2);
  if (closing === -1) return undefined;
  return { text: row.slice(at, closing + 1), end: closing + 1 };
}

function plainCell(row: string, at: number, delimiter: string): Cell | undefined {
  const next = row.indexOf(delimiter, at);
  const end = next === -1 ? row.length : next;
  const text = row.slice(at, end);
  return text.includes('"') ? undefined : { text, end };
}

/** The place of the quote that closes a cell; -1 if there is none. Two quotes are one of the cell's text. */
function closingQuote(row: string, opening: number): number {
  let at = row.indexOf('"', opening + 1);
  while (at !== -1 && row.startsWith('"', at + 1)) at = row.indexOf('"', at + 2);
  return at;
}

/**
 * Decodes UTF-8, with U+FFFD for errors, and splits it into lines without carriage returns. Of a line that is too long
 * only the beginning is kept.
 */
async function* linesOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  const decoder = new TextDecoder();
  let rest = "";
  const split = (text: string) => {
    const lines = (rest + text.replaceAll("\r", "")).split("\n");
    rest = (lines.pop() as string).slice(0, ROW_MAX_CHARACTERS);
    return lines;
  };
  for await (const piece of pieces) yield split(decoder.decode(piece, { stream: true }));
  yield [...split(decoder.decode()), rest];
}
