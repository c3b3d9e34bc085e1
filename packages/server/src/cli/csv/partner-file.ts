import { type CurrencyExponent, parseMoney } from "../../domain/money.ts";
import type { TheirRow, TheirStatus, UnreadableRow } from "../../domain/reconciliation.ts";
import { CommandFailed, WrongUsage } from "../runtime.ts";
import { type NumberedRow, readRows } from "./reading.ts";

/** How a partner's CSV is to be read. */
export interface PartnerFileFormat {
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

type Theirs = TheirRow | UnreadableRow;

const ROW_MAX_CHARACTERS = 64 * 1024;
const BATCH_ROWS = 1_000;

/**
 * The rows of a partner's CSV, some at a time. A row that makes no sense is handed on with what is wrong; a file that is
 * no CSV is refused from there on, since what is a row and what is not cannot be told any more.
 * @throws WrongUsage where a column is missing. @throws CommandFailed where it is no CSV.
 */
export async function* readPartnerFile(
  bytes: AsyncIterable<Uint8Array>,
  format: PartnerFileFormat,
): AsyncGenerator<readonly Theirs[]> {
  let read: ((row: NumberedRow) => Theirs) | undefined;
  let batch: Theirs[] = [];
  const options = { delimiter: format.delimiter, maxCharacters: ROW_MAX_CHARACTERS, mustBeUtf8: false };
  for await (const row of readRows(bytes, options)) {
    if (read === undefined) read = rowReader(row.cells, format);
    else if (row.cells.some((cell) => cell.trim() !== "")) batch.push(read(row));
    if (batch.length < BATCH_ROWS) continue;
    yield batch;
    batch = [];
  }
  if (read === undefined) throw new CommandFailed("the file is empty: it must begin with the names of its columns");
  yield batch;
}

/** @param header the names of the columns. */
function rowReader(header: readonly string[], format: PartnerFileFormat): (row: NumberedRow) => Theirs {
  const names = header.map((name) => name.trim());
  const indexOf = (flag: string, name: string) => {
    const index = names.indexOf(name);
    const list = names.map(quote).join(", ");
    if (index === -1) throw new WrongUsage(`${flag}: the file has no column ${quote(name)}, but ${list}`);
    if (names.lastIndexOf(name) !== index) throw new WrongUsage(`${flag}: the file has two columns ${quote(name)}`);
    return index;
  };
  const { columns, statuses, currencyExponent } = format;
  const keyIndex = indexOf("--key-column", columns.key);
  const amountIndex = indexOf("--amount-column", columns.amount);
  const statusIndex = columns.status === undefined ? undefined : indexOf("--status-column", columns.status);
  const dateIndex = columns.date === undefined ? undefined : indexOf("--date-column", columns.date);

  return ({ cells, last: line }) => {
    const cell = (index: number) => cells[index]?.trim() ?? "";
    // A comma too many, in a name or an amount, has moved the cells after it: none of them can be trusted.
    if (cells.slice(names.length).some((text) => text.trim() !== ""))
      return { line, key: undefined, problem: `it has ${cells.length} cells, and the header has ${names.length}` };
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
