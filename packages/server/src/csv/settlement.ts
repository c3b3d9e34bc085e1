import { printable } from "../domain/printable.ts";
import type { SettlementRow } from "../services/staff/settlement.ts";
import { csvText, guardCell } from "./writing.ts";

const COLUMNS = [
  ...(["day", "partner", "service", "bouquetId"] as const),
  ...(["topUps", "gross", "reversals", "reversed", "net"] as const),
];

export const SETTLEMENT_HEADER = csvText([COLUMNS]);

/** Numbers go in as they are: a negative amount must stay one. */
export function settlementCsv(rows: readonly SettlementRow[]): string {
  const cell = (value: SettlementRow[(typeof COLUMNS)[number]]) => {
    const text = printable(String(value ?? ""));
    return /^-?[0-9.]+$/.test(text) ? text : guardCell(text);
  };
  return csvText(rows.map((row) => COLUMNS.map((name) => cell(row[name]))));
}
