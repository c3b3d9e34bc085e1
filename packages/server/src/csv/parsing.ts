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
  let [quotes, length] = [0, 0];
  for (let to = from; to < lines.length; to += 1) {
    const line = lines[to] as string;
    length += line.length + 1;
    quotes += line.split('"').length - 1;
    if (length > ROW_MAX_CHARACTERS) return to === from ? TOO_LONG : NO_ROW;
    if (quotes === 0) return { lines: 1, cells: line.split(delimiter) };
    // A row whose quote is open has an odd number of quotes.
    if (quotes % 2 === 1 && to > from) continue;
    const cells = cellsOf(lines.slice(from, to + 1).join("\n"), delimiter);
    if (cells !== "open") return cells === undefined ? NO_ROW : { lines: to - from + 1, cells };
  }
  return undefined;
}

/** The cells of a row; undefined if a quote is at a wrong place. A spreadsheet's `="00123"` is a cell without quotes. */
function cellsOf(row: string, delimiter: string): string[] | "open" | undefined {
  const cells: string[] = [];
  for (let at = 0; ; at += delimiter.length) {
    const isQuoted = row.startsWith('"', at);
    const end = isQuoted ? closingQuote(row, at) : row.startsWith('="', at) ? row.indexOf('"', at + 2) : undefined;
    if (end === -1) return isQuoted ? "open" : undefined;
    const next = end === undefined ? row.indexOf(delimiter, at) : end + 1;
    const after = next === -1 ? row.length : next;
    const cell = row.slice(at, after);
    if (end === undefined && cell.includes('"')) return undefined;
    cells.push(isQuoted ? cell.slice(1, -1).replaceAll('""', '"') : cell);
    if (after === row.length) return cells;
    if (!row.startsWith(delimiter, after)) return undefined;
    at = after;
  }
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
