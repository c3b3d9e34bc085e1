import type { Difference } from "../../api/types.ts";

const COLUMNS = [
  ...(["verdict", "line", "key", "theirAmount", "theirStatus", "ourAmount", "ourStatus"] as const),
  ...(["txnId", "checkoutId", "txnDate", "problem"] as const),
];

/** For a file that is made in the browser. */
export function differencesCsv(differences: readonly Difference[]): string {
  const rows = differences.map((difference) => COLUMNS.map((name) => cell(difference[name])));
  return [COLUMNS, ...rows].map((row) => `${row.join(",")}\r\n`).join("");
}

/** A text that a spreadsheet would take for a formula begins with an apostrophe. */
function cell(value: string | number | null): string {
  const text = String(value ?? "");
  const guarded = /^[=+\-@\t\r]/.test(text) && !/^-?[0-9.]+$/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}
