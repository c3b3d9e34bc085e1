import { type CurrencyExponent, parseMoney } from "../domain/money.ts";
import type { TheirRow, TheirStatus, UnreadableRow } from "../domain/reconciliation.ts";
import { Refused } from "../office/refused.ts";
import { type NumberedRow, readRows } from "./reading.ts";

/** How a partner's CSV is to be read. */
export interface PartnerFileFormat {
  readonly delimiter: string;
  readonly keyColumn: string;
  readonly amountColumn: string;
  /** If undefined, every row counts as a success. */
  readonly statusColumn: string | undefined;
  /** Keys are the partner's words, in lower case. */
  readonly statuses: ReadonlyMap<string, TheirStatus>;
  readonly currencyExponent: CurrencyExponent;
}

type Theirs = TheirRow | UnreadableRow;

/**
 * Reads the rows of a partner's CSV. A row that cannot be read is yielded with its problem.
 * @throws Refused if it is no CSV, or lacks a column.
 */
export async function* readPartnerFile(
  bytes: AsyncIterable<Uint8Array>,
  format: PartnerFileFormat,
): AsyncGenerator<Theirs> {
  let read: ((row: NumberedRow) => Theirs) | undefined;
  for await (const row of readRows(bytes, format.delimiter)) {
    if (read === undefined) read = rowReader(row.cells, format);
    else if (row.cells.some((cell) => cell.trim() !== "")) yield read(row);
  }
  if (read === undefined)
    throw new Refused("invalid", "the file is empty: it must begin with the names of its columns");
}

/** @param header the names of the columns. */
function rowReader(header: readonly string[], format: PartnerFileFormat): (row: NumberedRow) => Theirs {
  const { keyColumn, amountColumn, statusColumn, statuses, currencyExponent } = format;
  const names = header.map((name) => name.trim());
  const indexOf = (field: string, name: string) => {
    const index = names.indexOf(name);
    if (index !== -1 && names.lastIndexOf(name) === index) return index;
    throw Refused.field(
      field,
      `must name one column, but ${quote(name)} is none or several of ${names.map(quote).join(", ")}`,
    );
  };
  const keyIndex = indexOf("keyColumn", keyColumn);
  const amountIndex = indexOf("amountColumn", amountColumn);
  const statusIndex = statusColumn === undefined ? undefined : indexOf("statusColumn", statusColumn);

  return ({ cells, line }) => {
    const cell = (index: number) => cells[index]?.trim() ?? "";
    // A comma too many, in a name or an amount, has moved the cells after it: none of them can be trusted.
    if (cells.slice(names.length).some((text) => text.trim() !== ""))
      return { line, key: undefined, problem: `it has ${cells.length} cells, and the header has ${names.length}` };
    const key = cell(keyIndex);
    if (key === "") return { line, key: undefined, problem: `${keyColumn} is empty` };
    if (/[\ufffd\0]/.test(key)) return { line, key: undefined, problem: `${keyColumn} is not UTF-8, or holds a NUL` };
    const [amountText, statusText] = [cell(amountIndex), statusIndex === undefined ? "" : cell(statusIndex)];
    const amount = parseMoney(amountText, currencyExponent);
    if (amount === undefined)
      return { line, key, problem: `${amountColumn} is ${quote(amountText)}, and no amount such as 1130 or 1130.50` };
    const status = statusIndex === undefined ? "success" : statuses.get(statusText.toLowerCase());
    if (status !== undefined) return { line, key, amount, status };
    return {
      line,
      key,
      problem: `${statusColumn} is ${quote(statusText)}, a word of which nothing says what it means`,
    };
  };
}

/** Long texts are cut: what is no amount may be anything. */
function quote(text: string): string {
  return JSON.stringify(text.length <= 40 ? text : `${text.slice(0, 40)}…`);
}
