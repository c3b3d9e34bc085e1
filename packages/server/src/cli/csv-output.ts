import type { Runtime } from "./runtime.ts";
import { printable } from "./text.ts";

/** What a spreadsheet may take for the beginning of a formula, also in the wide writing of East Asia. */
const FORMULA = /^[=+\-@\t\r＝＋－＠]/;

/**
 * Text that comes from others, for a cell of a CSV. A spreadsheet runs a cell that begins like a formula, so such
 * text gets an apostrophe before it, which spreadsheets take as the mark of plain text. Numbers that topupd writes
 * itself go in as they are: a negative amount must stay one.
 */
export function textCell(text: string): string {
  const harmless = printable(text);
  return FORMULA.test(harmless) ? `'${harmless}` : harmless;
}

/**
 * What prints rows of a CSV: comma, quotes where they are needed, one line feed at the end of each. Loaded only where
 * it is used: every command would take longer to begin.
 */
export async function csvPrinter(runtime: Runtime): Promise<(rows: readonly (readonly string[])[]) => void> {
  const { stringify } = await import("csv-stringify/sync");
  return (rows) => {
    if (rows.length > 0) runtime.stdout(stringify(rows as string[][]));
  };
}
