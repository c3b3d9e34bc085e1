import { pipeline, Readable } from "node:stream";
import { CsvError, type Options, parse } from "csv-parse";
import { type CurrencyExponent, parseMoney } from "../../domain/money.ts";
import type { TheirRow, TheirStatus, UnreadableRow } from "../../domain/reconciliation.ts";
import { CommandFailed, WrongUsage } from "../runtime.ts";
import { LineNumbers, type NumberedRow } from "./line-numbers.ts";
import { whyNoCsv } from "./reading.ts";

/** How a partner's CSV is to be read. */
export interface FileFormat {
  readonly delimiter: string;
  readonly columns: {
    readonly key: string;
    readonly amount: string;
    /** Without it, every row counts as a success. */
    readonly status: string | undefined;
    readonly date: string | undefined;
  };
  /** By the word that the partner has for it, in lower case. */
  readonly statuses: ReadonlyMap<string, TheirStatus>;
  readonly currencyExponent: CurrencyExponent;
}

/** Far more than a row takes; a quote that is never closed would swallow the rest of the file. */
const ROW_MAX_CHARACTERS = 64 * 1024;
const BATCH_ROWS = 1_000;

/**
 * The rows of a partner's CSV, some at a time: with or without byte order mark, with any kind of line end, with
 * quotes or without. A row that makes no sense is handed on with what is wrong; a file that is no CSV is refused from
 * there on, since what is a row and what is not cannot be told any more.
 * @throws WrongUsage where a column is missing. @throws CommandFailed where it is no CSV.
 */
export async function* readPartnerFile(
  bytes: AsyncIterable<Uint8Array>,
  format: FileFormat,
): AsyncGenerator<readonly (TheirRow | UnreadableRow)[]> {
  const numbers = new LineNumbers();
  const parser = parse({
    ...{ bom: true, info: true, relax_column_count: true, skip_empty_lines: true },
    ...{ delimiter: format.delimiter, record_delimiter: ["\r\n", "\n", "\r"], max_record_size: ROW_MAX_CHARACTERS },
    on_record: (row) => numbers.of(row as never) as never,
  } satisfies Options);
  // What goes wrong with the file is thrown by the loop.
  pipeline(Readable.from(bytes), parser, () => {});
  let readRow: ((row: NumberedRow) => TheirRow | UnreadableRow) | undefined;
  let batch: (TheirRow | UnreadableRow)[] = [];
  try {
    for await (const row of parser as AsyncIterable<NumberedRow>) {
      if (readRow === undefined) readRow = rowReader(row.record, format);
      else if (row.record.some((cell) => cell.trim() !== "")) batch.push(readRow(row));
      if (batch.length < BATCH_ROWS) continue;
      yield batch;
      batch = [];
    }
  } catch (error) {
    if (error instanceof CsvError) throw new CommandFailed(whyNoCsv(error, numbers, ROW_MAX_CHARACTERS));
    throw error;
  }
  if (readRow === undefined) throw new CommandFailed("the file is empty: it must begin with the names of its columns");
  yield batch;
}

/** @param header the names of the columns. */
function rowReader(header: readonly string[], format: FileFormat): (row: NumberedRow) => TheirRow | UnreadableRow {
  const names = header.map((name) => name.trim());
  const indexOf = (flag: string, name: string) => {
    const index = names.indexOf(name);
    if (index === -1) throw new WrongUsage(`${flag}: the file has no column ${quote(name)}, but ${list(names)}`);
    if (names.lastIndexOf(name) !== index) throw new WrongUsage(`${flag}: the file has two columns ${quote(name)}`);
    return index;
  };
  const { columns, statuses, currencyExponent } = format;
  const keyIndex = indexOf("--key-column", columns.key);
  const amountIndex = indexOf("--amount-column", columns.amount);
  const statusIndex = columns.status === undefined ? undefined : indexOf("--status-column", columns.status);
  const dateIndex = columns.date === undefined ? undefined : indexOf("--date-column", columns.date);

  return ({ record, last: line }) => {
    const cell = (index: number) => record[index]?.trim() ?? "";
    // A comma too many, in a name or an amount, has moved the cells after it: none of them can be trusted.
    if (record.slice(names.length).some((text) => text.trim() !== ""))
      return { line, key: undefined, problem: `it has ${record.length} cells, and the header has ${names.length}` };
    const key = cell(keyIndex);
    if (key === "") return { line, key: undefined, problem: `${columns.key} is empty` };
    if (key.includes("\ufffd")) return { line, key: undefined, problem: `${columns.key} is not UTF-8` };
    const amount = parseMoney(cell(amountIndex), currencyExponent);
    if (amount === undefined) {
      const problem = `${columns.amount} is ${quote(cell(amountIndex))}, and no amount such as 1130 or 1130.50`;
      return { line, key, problem };
    }
    const status = statusIndex === undefined ? "success" : statuses.get(cell(statusIndex).toLowerCase());
    if (status === undefined) {
      const problem = `${columns.status} is ${quote(cell(statusIndex ?? 0))}, a word of which no flag says what it means`;
      return { line, key, problem };
    }
    return { line, key, amount, status, date: dateIndex === undefined ? undefined : cell(dateIndex) };
  };
}

/** Long texts are cut: what is no amount may be anything. */
function quote(text: string): string {
  return JSON.stringify(text.length <= 40 ? text : `${text.slice(0, 40)}…`);
}

function list(names: readonly string[]): string {
  return names.map(quote).join(", ");
}
