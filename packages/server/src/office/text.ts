import { printable, UNPRINTABLE } from "../domain/names.ts";
import type { StaffAct } from "../domain/staff.ts";

export { printable };

/** One line with escaped control characters. */
export function jsonLine(data: unknown): string {
  const escaped = (mark: string) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return `${JSON.stringify(data).replace(UNPRINTABLE, escaped)}\n`;
}

/** Names and values, one line each, without undefined values. */
export function fieldLines(fields: readonly (readonly [name: string, value: string | undefined])[]): string {
  const width = Math.max(...fields.map(([name]) => name.length));
  const lines = fields.filter(([, value]) => value !== undefined);
  return lines.map(([name, value]) => `${name.padEnd(width)}  ${printable(value ?? "")}\n`).join("");
}

/** The value of a table's cell; null for an empty cell. */
export type Row = Readonly<Record<string, string | number | boolean | readonly string[] | null>>;

/**
 * A table: a line with the columns' names, and one for each row. A column is as wide as its widest cell.
 * @param numbers how many of the last columns hold numbers, which are right-aligned.
 */
export function table(columns: readonly string[], rows: readonly Row[], numbers = 0): string {
  const titles = columns.map((name) => name.replace(/[A-Z]/g, " $&").toUpperCase());
  const cells = [titles, ...rows.map((row) => columns.map((name) => cellText(row[name] ?? null)))];
  const widths = columns.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const firstNumber = columns.length - numbers;
  const pad = (cell: string, column: number) =>
    column >= firstNumber ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0);
  return cells.map((row) => `${row.map(pad).join("  ").trimEnd()}\n`).join("");
}

function cellText(value: Row[string]): string {
  return value === null ? "-" : printable(Array.isArray(value) ? value.join(" ") : String(value));
}

/** `1 month`, `3 months`. */
export function count(number: number, unit: string): string {
  return `${number} ${unit}${number === 1 ? "" : "s"}`;
}

/** Lines for the blocks of a connection, by staff and by the provider's records. */
export function blockLines(
  byStaff: Pick<StaffAct, "wall" | "author" | "reason"> | null | undefined,
  isByRecords: boolean,
): readonly string[] {
  return [
    ...(byStaff ? [`${printable(`Blocked ${byStaff.wall} by ${byStaff.author}: ${byStaff.reason}`)}\n`] : []),
    ...(isByRecords ? ["Blocked by the provider's records: correct them, and import them.\n"] : []),
  ];
}

/** Quotes any text as one word of a shell. */
export function shellWord(text: string): string {
  return /^[\w.@/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Says that a list may lack old rows. @param day before which history was deleted; null if none is missing. */
export function prunedLine(day: string | null): string {
  return day === null ? "" : `History before ${day} was deleted (topupd prune): the list may be incomplete.\n`;
}
