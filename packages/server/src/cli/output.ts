import { Option } from "commander";
import type { Instant } from "../domain/calendar.ts";
import type { Runtime } from "./runtime.ts";
import { printableJson } from "./words/text.ts";

/** What commands of Unix call stdin or stdout by in the place of a file. */
export const STDIO = "-";

export interface OutputOptions {
  readonly json?: boolean;
}

export function jsonOption(): Option {
  return new Option("--json", "print the data as JSON");
}

export interface CsvOptions extends OutputOptions {
  readonly csv?: boolean;
}

export function csvOption(): Option {
  return new Option("--csv", "print the data as CSV").conflicts("json");
}

export function printJson(runtime: Pick<Runtime, "stdout">, data: unknown): void {
  runtime.stdout(jsonText(data));
}

export function jsonText(data: unknown): string {
  return `${printableJson(data)}\n`;
}

/** Instants in ISO 8601, UTC: for operators and their programs, never for the wire. */
export function isoTime(instant: Instant): string {
  return new Date(instant).toISOString();
}

export function isoTimeOrNull(instant: Instant | undefined): string | null {
  return instant === undefined ? null : isoTime(instant);
}

export function printTable(runtime: Runtime, header: readonly string[], rows: readonly (readonly string[])[]): void {
  for (const line of tableLines([header, ...rows])) runtime.stdout(`${line}\n`);
}

/** Columns as wide as their widest cell. */
export function tableLines(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => widthOf(rows, column));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

/** Of the widest cell of a column, however many lines there are. */
export function widthOf(lines: readonly (readonly string[])[], column: number): number {
  return lines.reduce((widest, line) => Math.max(widest, line[column]?.length ?? 0), 0);
}

/** Whether the system refused something of a file, and not topupd. */
export function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error;
}
