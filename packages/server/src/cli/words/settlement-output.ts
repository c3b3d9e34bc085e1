import { formatMoneyInFull, type Money } from "../../domain/money.ts";
import {
  addTotals,
  NOTHING_SETTLED,
  netOf,
  type SettlementLine,
  type SettlementTotal,
} from "../../domain/settlement.ts";
import { csvPrinter, textCell } from "../csv/output.ts";
import { type CsvOptions, printJson, printTable, widthOf } from "../output.ts";
import type { Runtime } from "../runtime.ts";
import { count, printable } from "./text.ts";
import { partnerName, type Showing } from "./transaction-output.ts";

export interface SettlementShowing extends Showing {
  /** Then a table need not name the partner on each line. */
  readonly ofOnePartner: boolean;
}

/**
 * Prints lines as they come, but for a table, whose columns are as wide as their widest cell. Only a table has a line
 * of the total, so that no program adds it to the rest; for the others it is said on stderr.
 */
export async function printSettlement(
  runtime: Runtime,
  days: AsyncIterable<readonly SettlementLine[]>,
  showing: SettlementShowing,
  { csv, json }: CsvOptions,
): Promise<void> {
  let total = NOTHING_SETTLED;
  const kept: SettlementLine[] = [];
  const printCsv = csv === true ? await csvPrinter(runtime) : undefined;
  printCsv?.([CSV_HEADER]);
  for await (const lines of days) {
    total = lines.reduce<SettlementTotal>(addTotals, total);
    if (printCsv !== undefined) printCsv(lines.map((line) => csvRow(line, showing)));
    else if (json === true) for (const line of lines) printJson(runtime, settlementJson(line, showing));
    else kept.push(...lines);
  }
  if (csv === true || json === true) runtime.stderr(totalWords(total, showing));
  else printLines(runtime, kept, total, showing);
}

const CSV_HEADER = ["day", "partner", "service", "bouquetId", "topUps", "gross", "reversals", "reversed", "net"];

function csvRow(line: SettlementLine, showing: Showing): string[] {
  const { day, service, bouquetCode } = line;
  const label = [day, textCell(partnerName(line, showing)), service ?? "", textCell(bouquetCode ?? "")];
  return [...label, ...amountCells(line, showing)];
}

/** Amounts are decimals in strings, so that nobody rounds them. */
function settlementJson(line: SettlementLine, showing: Showing) {
  const { day, service, bouquetCode, topUps, gross, reversals, reversed } = line;
  return {
    ...{ day, partner: partnerName(line, showing) },
    ...(service === undefined ? {} : { service }),
    ...(bouquetCode === undefined ? {} : { bouquetId: bouquetCode }),
    ...{ topUps, gross: inFull(gross, showing), reversals, reversed: inFull(reversed, showing) },
    net: inFull(netOf(line), showing),
  };
}

const AMOUNT_HEADER = ["TOP-UPS", "GROSS", "REVERSALS", "REVERSED", "NET"];

function printLines(
  runtime: Runtime,
  lines: readonly SettlementLine[],
  total: SettlementTotal,
  showing: SettlementShowing,
): void {
  const hasService = lines.some(({ service }) => service !== undefined);
  const hasBouquet = lines.some(({ bouquetCode }) => bouquetCode !== undefined);
  const labelOf = (day: string, partner: string, service: string, bouquet: string) => [
    day,
    ...(showing.ofOnePartner ? [] : [partner]),
    ...(hasService ? [service] : []),
    ...(hasBouquet ? [bouquet] : []),
  ];
  const rows = [
    ...lines.map((line) => [
      ...labelOf(line.day, partnerName(line, showing), line.service ?? "", line.bouquetCode ?? "").map(printable),
      ...amountCells(line, showing),
    ]),
    [...labelOf("TOTAL", "", "", ""), ...amountCells(total, showing)],
  ];
  const header = [...labelOf("DAY", "PARTNER", "SERVICE", "BOUQUET"), ...AMOUNT_HEADER];
  const [head = [], ...body] = alignRight([header, ...rows], header.length - AMOUNT_HEADER.length);
  printTable(runtime, head, body);
}

function amountCells(total: SettlementTotal, showing: Showing): string[] {
  const { topUps, gross, reversals, reversed } = total;
  const taken = [String(topUps), inFull(gross, showing)];
  return [...taken, String(reversals), inFull(reversed, showing), inFull(netOf(total), showing)];
}

/** Numbers stand below each other by their last digit. @param first the first column of numbers. */
export function alignRight(rows: readonly (readonly string[])[], first: number): string[][] {
  const widths = (rows[0] ?? []).map((_, column) => (column < first ? 0 : widthOf(rows, column)));
  return rows.map((row) => row.map((cell, column) => cell.padStart(widths[column] ?? 0)));
}

function totalWords(total: SettlementTotal, showing: Showing): string {
  const { topUps, gross, reversals, reversed } = total;
  const taken = `${count(topUps, "top-up")} of ${inFull(gross, showing)}`;
  const given = `${count(reversals, "reversal")} of ${inFull(reversed, showing)}`;
  return `${taken}, ${given}: ${inFull(netOf(total), showing)} net\n`;
}

function inFull(amount: Money, { currencyExponent }: Showing): string {
  return formatMoneyInFull(amount, currencyExponent);
}
