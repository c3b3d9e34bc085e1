import type { Instant } from "../../domain/wall-time.ts";
import { csvText, guardCell } from "../csv/cells.ts";
import type { Runtime } from "../runtime.ts";

/** The narrowest terminal that what is printed here is made for. */
const TERMINAL_WIDTH = 80;

/** Marks that could move a terminal's cursor, colour what follows, or turn its direction round. */
const UNPRINTABLE = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** What others have sent, made harmless for a terminal. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, "\ufffd");
}

export interface OutputOptions {
  readonly json?: boolean;
}

/** What a command shows: its data as one line of JSON where that was asked for, otherwise words. */
export function show({ stdout }: Pick<Runtime, "stdout">, { json }: OutputOptions, data: unknown, words: string): void {
  stdout(json === true ? jsonLine(data) : words);
}

/** One line, in which marks that a terminal would act on are escaped. */
export function jsonLine(data: unknown): string {
  const escaped = (mark: string) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return `${JSON.stringify(data).replace(UNPRINTABLE, escaped)}\n`;
}

/** Names and values, a line for each; what is undefined is left out. */
export function fieldLines(fields: readonly (readonly [name: string, value: string | undefined])[]): string {
  const width = Math.max(...fields.map(([name]) => name.length));
  const lines = fields.filter(([, value]) => value !== undefined);
  return lines.map(([name, value]) => `${name.padEnd(width)}  ${printable(value ?? "")}\n`).join("");
}

/** What rows of a table hold: null where there is nothing. */
export type Row = Readonly<Record<string, string | number | boolean | readonly string[] | null>>;

/** A line for the titles, which are the columns' names, and one for each row; columns are as wide as their widest cell. */
export function tableLines(columns: readonly string[], rows: readonly Row[], numbers = 0): string[] {
  const titles = columns.map((name) => name.replace(/[A-Z]/g, " $&").toUpperCase());
  const cells = [titles, ...rows.map((row) => columns.map((name) => cellText(row[name] ?? null)))];
  const widths = columns.map((_, column) => cells.reduce((most, row) => Math.max(most, row[column]?.length ?? 0), 0));
  const isNumber = (column: number) => column >= columns.length - numbers;
  const pad = (cell: string, column: number) =>
    isNumber(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0);
  return cells.map((row) => row.map(pad).join("  ").trimEnd());
}

/** @param numbers how many of the last columns hold numbers, which end below each other. */
export function table(columns: readonly string[], rows: readonly Row[], numbers = 0): string {
  return tableLines(columns, rows, numbers)
    .map((line) => `${line}\n`)
    .join("");
}

function cellText(value: Row[string]): string {
  return value === null ? "-" : printable(Array.isArray(value) ? value.join(" ") : String(value));
}

export interface ReportOptions extends OutputOptions {
  readonly csv?: boolean;
}

/** Rows for other programs, one on each line: `json`, or `csv` with a header; otherwise a table of some columns. */
export function showReport(
  { stdout }: Pick<Runtime, "stdout">,
  { json, csv }: ReportOptions,
  rows: readonly Row[],
  words: () => string,
  header: readonly string[],
): void {
  if (json === true) stdout(rows.map(jsonLine).join(""));
  else if (csv === true)
    stdout(csvText([header, ...rows.map((row) => header.map((name) => csvCell(row[name] ?? null)))]));
  else stdout(words());
}

/** Numbers go in as they are: a negative amount must stay one. */
function csvCell(value: Row[string]): string {
  const text = value === null ? "" : printable(String(value));
  return /^-?[0-9.]+$/.test(text) ? text : guardCell(text);
}

/** A blank, but for the one in a time such as `2026-11-20 09:00:00`. */
const BREAK = / (?!\d\d:\d\d:\d\d)/;

/**
 * Breaks text at its blanks, so that no line is wider than a terminal, but where a word is.
 * @param hanging the indent of all lines but the first.
 */
export function wrap(text: string, indent: string, hanging = indent): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(BREAK)) {
    const { length } = lines.length === 0 ? indent : hanging;
    if (line !== "" && length + line.length + 1 + word.length > TERMINAL_WIDTH) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return `${[...lines, line].map((each, index) => `${index === 0 ? indent : hanging}${each}`).join("\n")}\n`;
}

/** `1 month`, `3 months`. */
export function count(number: number, unit: string): string {
  return `${number} ${unit}${number === 1 ? "" : "s"}`;
}

/** A word as a shell takes it, whatever is in it. */
export function shellWord(text: string): string {
  return /^[\w.@/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Instants in ISO 8601, UTC: for operators and their programs, never for the wire. */
export function isoTime(instant: Instant): string {
  return new Date(instant).toISOString();
}

export function isoTimeOrNull(instant: Instant | undefined): string | null {
  return instant === undefined ? null : isoTime(instant);
}
