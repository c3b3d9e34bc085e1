import type { CsvError } from "csv-parse";

/** A row as the parser hands it on, where it was asked for `info`. */
interface ParsedRow {
  readonly record: readonly string[];
  readonly info: { readonly lines: number; readonly empty_lines: number };
}

/** A row, and the lines of the file that it takes, counted from 1 as editors do. */
export interface NumberedRow {
  readonly record: readonly string[];
  readonly first: number;
  readonly last: number;
}

const LINE_BREAK = /\r\n|\r|\n/g;

/**
 * Tells on which lines of the file its rows stand. Within quotes, the parser counts a carriage return with its line
 * feed as two lines; how many it has counted too many, the rows themselves tell.
 */
export class LineNumbers {
  #tooMany = 0;
  #last = 0;
  #emptyLines = 0;

  /** Of every row, in the order of the file. */
  of({ record, info: { lines, empty_lines: emptyLines } }: ParsedRow): NumberedRow {
    let breaks = 0;
    for (const cell of record) {
      for (const [found] of cell.includes("\n") || cell.includes("\r") ? cell.matchAll(LINE_BREAK) : []) {
        breaks += 1;
        this.#tooMany += found.length - 1;
      }
    }
    this.#last = lines - this.#tooMany;
    this.#emptyLines = emptyLines;
    return { record, first: this.#last - breaks, last: this.#last };
  }

  /** Where the row begins in which the parser gave up. */
  whereItFailed(error: CsvError): number {
    const emptyLines = Number(error["empty_lines"] ?? this.#emptyLines);
    return this.#last + 1 + emptyLines - this.#emptyLines;
  }
}
