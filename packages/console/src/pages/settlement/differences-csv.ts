import type { Reconciliation } from "../../api/staff-api.d.ts";

export type Difference = Reconciliation["differences"][number];

const COLUMNS = [
  "verdict",
  "line",
  "key",
  "theirAmount",
  "theirStatus",
  "ourAmount",
  "ourStatus",
  "txnId",
  "cuid",
  "checkoutId",
  "txnDate",
  "problem",
] as const;

/** The differences as CSV. */
export function differencesCsv(differences: readonly Difference[]): string {
  const rows = differences.map((difference) => COLUMNS.map((name) => cell(difference[name])));
  return [COLUMNS, ...rows].map((row) => `${row.join(",")}\r\n`).join("");
}

/** Puts an apostrophe before text that a spreadsheet would read as a formula, as the server does. */
function cell(value: string | number | null): string {
  const text = String(value ?? "");
  const guarded = /^-?[0-9.]+$/.test(text) ? text : text.replace(/(^|;)(?='*\s*[=+\-@\t\r＝＋－＠])/g, "$1'");
  return /[",\r\n]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}
