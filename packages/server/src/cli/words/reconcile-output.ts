import { formatMoneyInFull } from "../../domain/money.ts";
import {
  type Answer,
  isUnreadable,
  NO_TALLY,
  type Tally,
  VERDICTS,
  type Verdict,
} from "../../domain/reconciliation.ts";
import type { Reconciled } from "../../operations/reconcile.ts";
import { csvPrinter, textCell } from "../csv/output.ts";
import { type CsvOptions, isoTime, printJson } from "../output.ts";
import type { Runtime } from "../runtime.ts";
import { alignRight } from "./settlement-output.ts";
import { printable, wrap } from "./text.ts";
import type { Showing } from "./transaction-output.ts";

type MoneyShowing = Pick<Showing, "currencyExponent">;

/** Prints each answer when it comes: there may be more of them than memory holds. */
export async function answerPrinter(
  runtime: Runtime,
  showing: Showing,
  { csv, json }: CsvOptions,
): Promise<(answer: Answer) => void> {
  if (json === true) return (answer) => printJson(runtime, answerJson(answer, showing));
  if (csv === true) {
    const printCsv = await csvPrinter(runtime);
    printCsv([Object.keys(answerJson(NO_ANSWER, showing))]);
    return (answer) => {
      const cells = Object.values(answerJson(answer, showing)).map((value) => String(value ?? ""));
      printCsv([cells.map(textCell)]);
    };
  }
  let isFirst = true;
  return (answer) => {
    if (isFirst) printLine(runtime, TABLE_HEADER);
    isFirst = false;
    printLine(runtime, tableRow(answer, showing));
  };
}

const NO_ANSWER: Answer = { verdict: "matched", theirs: undefined, ours: undefined };

/** What there is none of is null. Amounts are decimals in strings, so that nobody rounds them. */
function answerJson({ verdict, theirs, ours }: Answer, { calendar, currencyExponent }: Showing) {
  const read = theirs !== undefined && !isUnreadable(theirs) ? theirs : undefined;
  const problem = theirs !== undefined && isUnreadable(theirs) ? theirs.problem : undefined;
  return {
    verdict,
    line: theirs?.line ?? null,
    key: theirs?.key ?? ours?.key ?? null,
    theirAmount: read === undefined ? null : formatMoneyInFull(read.amount, currencyExponent),
    theirStatus: read?.status ?? null,
    theirDate: read?.date ?? null,
    ourAmount: ours === undefined ? null : formatMoneyInFull(ours.amount, currencyExponent),
    ourStatus: ours?.status ?? null,
    txnId: ours?.txnId ?? null,
    checkoutId: ours?.checkoutId ?? null,
    txnDate: ours === undefined ? null : calendar.format(ours.at),
    at: ours === undefined ? null : isoTime(ours.at),
    problem: problem ?? null,
    toDo: VERDICTS[verdict],
  };
}

/** Printed as they come, so their widths are fixed: those of what they hold, and of a usual amount. */
const TABLE_COLUMNS = [
  ["VERDICT", 14],
  ["LINE", 8],
  ["THEIRS", 18],
  ["OURS", 18],
  ["KEY", 0],
] as const;
const TABLE_HEADER = TABLE_COLUMNS.map(([title]) => title);

function tableRow({ verdict, theirs, ours }: Answer, showing: Showing): string[] {
  const line = theirs === undefined ? "" : String(theirs.line);
  const key = theirs?.key ?? ours?.key ?? ours?.txnId ?? "";
  const isRead = theirs !== undefined && !isUnreadable(theirs);
  const theirCell = isRead ? amountCell(theirs, showing) : "";
  const last = theirs !== undefined && isUnreadable(theirs) ? `${key} (${theirs.problem})`.trim() : key;
  return [words(verdict), line, theirCell, ours === undefined ? "" : amountCell(ours, showing), last].map(printable);
}

/** With its status where it is not owed. */
function amountCell({ amount, status }: { amount: bigint; status: string }, { currencyExponent }: MoneyShowing) {
  const text = formatMoneyInFull(amount, currencyExponent);
  return status === "success" ? text : `${status} ${text}`;
}

function printLine(runtime: Runtime, cells: readonly string[]): void {
  const padded = cells.map((cell, column) => {
    const width = TABLE_COLUMNS[column]?.[1] ?? 0;
    return column === 0 ? cell.padEnd(width) : cell.padStart(width);
  });
  runtime.stdout(`${padded.join("  ").trimEnd()}\n`);
}

/** What the two books come to, by what was found, and what is to be done: for whoever reads it, not for programs. */
export function printSummary(runtime: Runtime, { verdicts, total }: Reconciled, showing: MoneyShowing): void {
  const found = (Object.keys(VERDICTS) as Verdict[]).filter((verdict) => verdicts.has(verdict));
  const row = (title: string, { answers, theirs, ours }: Tally) => [
    ...[title, String(answers)],
    ...[theirs, ours, theirs - ours].map((amount) => formatMoneyInFull(amount, showing.currencyExponent)),
  ];
  const rows = [
    ["VERDICT", "ROWS", "THEIRS", "OURS", "DIFFERENCE"],
    ...found.map((verdict) => row(words(verdict), verdicts.get(verdict) ?? NO_TALLY)),
    row("TOTAL", total),
  ];
  for (const [title = "", ...numbers] of alignRight(rows, 1))
    runtime.stderr(`${[title.padEnd(TABLE_COLUMNS[0][1]), ...numbers].join("  ")}\n`);
  for (const verdict of found) {
    if (verdict !== "matched") runtime.stderr(`\n${words(verdict)}:\n${wrap(VERDICTS[verdict], "  ")}`);
  }
}

function words(verdict: Verdict): string {
  return verdict.replaceAll("_", " ");
}
