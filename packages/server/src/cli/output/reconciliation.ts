import { type CurrencyExponent, formatMoneyInFull, type Money } from "../../domain/money.ts";
import {
  type Answer,
  isUnreadable,
  NO_TALLY,
  type Tally,
  VERDICTS,
  type Verdict,
} from "../../domain/reconciliation.ts";
import type { Reconciled } from "../../services/staff/reconcile.ts";
import type { ProviderSettings } from "../../store/store.ts";
import type { Runtime } from "../runtime.ts";
import { isoTime, type ReportOptions, showReport, table, wrap } from "./text.ts";

export function printAnswers(
  runtime: Runtime,
  answers: readonly Answer[],
  provider: ProviderSettings,
  options: ReportOptions,
): void {
  const rows = answers.map((answer) => answerRow(answer, provider));
  const header = Object.keys(answerRow({ verdict: "matched", theirs: undefined, ours: undefined }, provider));
  const words = () => (answers.length === 0 ? "" : table(TABLE, rows.map(tableRow), 2));
  showReport(runtime, options, rows, words, header);
}

/** What there is none of is null. Amounts are decimals in strings, so that nobody rounds them. */
function answerRow({ verdict, theirs, ours }: Answer, { zone, currencyExponent }: ProviderSettings) {
  const read = theirs !== undefined && !isUnreadable(theirs) ? theirs : undefined;
  const inFull = (row: { amount: Money } | undefined) =>
    row === undefined ? null : formatMoneyInFull(row.amount, currencyExponent);
  return {
    verdict,
    ...{ line: theirs?.line ?? null, key: theirs?.key ?? ours?.key ?? null },
    ...{ theirAmount: inFull(read), theirStatus: read?.status ?? null, theirDate: read?.date ?? null },
    ...{ ourAmount: inFull(ours), ourStatus: ours?.status ?? null },
    ...{ txnId: ours?.txnId ?? null, checkoutId: ours?.checkoutId ?? null },
    ...{
      txnDate: ours === undefined ? null : zone.wallTime(ours.at),
      at: ours === undefined ? null : isoTime(ours.at),
    },
    problem: theirs !== undefined && isUnreadable(theirs) ? theirs.problem : null,
    toDo: VERDICTS[verdict],
  };
}

const TABLE = ["verdict", "line", "key", "theirs", "ours"];

/** An amount has its status before it where it is not owed. */
function tableRow(row: ReturnType<typeof answerRow>) {
  const { verdict, line, key, problem, txnId, theirAmount, theirStatus, ourAmount, ourStatus } = row;
  const cell = (amount: string | null, status: string | null) =>
    amount === null || status === "success" ? amount : `${status} ${amount}`;
  return {
    ...{
      verdict: verdictWords(verdict),
      line,
      key: problem === null ? (key ?? txnId) : `${key ?? ""} (${problem})`.trim(),
    },
    ...{ theirs: cell(theirAmount, theirStatus), ours: cell(ourAmount, ourStatus) },
  };
}

/** What the two books come to, by what was found, and what is to be done: for whoever reads it, not for programs. */
export function summaryWords({ verdicts, total }: Reconciled, currencyExponent: CurrencyExponent): string {
  const found = (Object.keys(VERDICTS) as Verdict[]).filter((verdict) => verdicts.has(verdict));
  const inFull = (amount: Money) => formatMoneyInFull(amount, currencyExponent);
  const row = (verdict: string, { answers: rows, theirs, ours }: Tally) => {
    return { verdict, rows, theirs: inFull(theirs), ours: inFull(ours), difference: inFull(theirs - ours) };
  };
  const rows = found.map((verdict) => row(verdictWords(verdict), verdicts.get(verdict) ?? NO_TALLY));
  const toDo = found.filter((verdict) => verdict !== "matched");
  const advice = toDo.map((verdict) => `\n${verdictWords(verdict)}:\n${wrap(VERDICTS[verdict], "  ")}`);
  return `${table(["verdict", "rows", "theirs", "ours", "difference"], [...rows, row("TOTAL", total)], 4)}${advice.join("")}`;
}

function verdictWords(verdict: Verdict): string {
  return verdict.replaceAll("_", " ");
}
