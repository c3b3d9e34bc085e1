import { Option } from "commander";
import type { Instant } from "../domain/calendar.ts";
import type { Runtime } from "./runtime.ts";
import { printableJson } from "./text.ts";

export interface OutputOptions {
  readonly json?: boolean;
}

export function jsonOption(): Option {
  return new Option("--json", "print the data as JSON");
}

export function printJson(runtime: Runtime, data: unknown): void {
  runtime.stdout(`${printableJson(data)}\n`);
}

/** Instants in ISO 8601, UTC: for operators and their programs, never for the wire. */
export function isoTime(instant: Instant): string {
  return new Date(instant).toISOString();
}

export function isoTimeOrNull(instant: Instant | undefined): string | null {
  return instant === undefined ? null : isoTime(instant);
}

/** Columns as wide as their widest cell. */
export function printTable(runtime: Runtime, header: readonly string[], rows: readonly (readonly string[])[]): void {
  const lines = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? "").length)));
  for (const line of lines) {
    const cells = line.map((cell, column) => cell.padEnd(widths[column] ?? 0));
    runtime.stdout(`${cells.join("  ").trimEnd()}\n`);
  }
}

/** Whether the system refused something of a file, and not topupd. */
export function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error;
}
