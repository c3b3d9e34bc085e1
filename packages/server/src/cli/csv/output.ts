import type { Runtime } from "../runtime.ts";
import { printable } from "../words/text.ts";
import { guardCell } from "./cells.ts";

/**
 * Text that comes from others, for a cell of a CSV. Numbers that topupd writes itself go in as they are: a negative
 * amount must stay one.
 */
export function textCell(text: string): string {
  return guardCell(printable(text));
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
