import type { Difference } from "../../api/types.ts";

const COLUMNS = [
  ...(["verdict", "line", "key", "theirAmount", "theirStatus", "ourAmount", "ourStatus"] as const),
  ...(["txnId", "checkoutId", "txnDate", "problem"] as const),
];

/** Saves differences as a file, which is made in the browser. */
export function downloadDifferences(differences: readonly Difference[]): void {
  const url = URL.createObjectURL(new Blob([differencesCsv(differences)], { type: "text/csv" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = "differences.csv";
  link.click();
  URL.revokeObjectURL(url);
}

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
