import type { Static } from "typebox";
import type { Verdict } from "../../domain/settlement.ts";
import type { Shown } from "../operation.ts";
import { count, prunedLine, table } from "../text.ts";
import type { DifferenceSchema, ReconciliationSchema, SettlementSchema } from "./schemas.ts";

const LABELS = ["day", "partner", "service", "bouquetId"] as const;
const AMOUNTS = ["topUps", "gross", "reversals", "reversed", "net"];

export function settlementTable(settlement: Static<typeof SettlementSchema>): Shown {
  const { lines, total } = settlement;
  const labels = LABELS.filter((name) => name === "day" || lines.some((line) => line[name] !== null));
  const totalLine = { day: "TOTAL", partner: "", service: "", bouquetId: "", ...total };
  const out = table([...labels, ...AMOUNTS], [...lines, totalLine], AMOUNTS.length);
  return { out, note: periodLines(settlement) };
}

function periodLines({ open, prunedBefore }: { readonly open: boolean; readonly prunedBefore: string | null }): string {
  return `${prunedLine(prunedBefore)}${open ? "The last day is not over yet: these numbers may still grow.\n" : ""}`;
}

export function reconciliationLines(reconciliation: Static<typeof ReconciliationSchema>): Shown {
  const { verdicts, total, differences } = reconciliation;
  const out = differences.length === 0 ? "" : table(COLUMNS, differences.map(differenceRow), 2);
  const rows = verdicts.map((row) => ({ ...row, verdict: verdictWords(row.verdict) }));
  const sums = table(["verdict", "rows", "theirs", "ours", "difference"], [...rows, { verdict: "TOTAL", ...total }], 4);
  const advice = verdicts.filter((row) => row.advice !== null);
  const todo = advice.map((row) => `\n${verdictWords(row.verdict)}: ${row.advice}\n`).join("");
  const differing = verdicts.reduce((sum, { verdict, rows: of }) => sum + (verdict === "matched" ? 0 : of), 0);
  return {
    ...{ out, note: `${sums}${todo}${periodLines(reconciliation)}` },
    wrong: differing === 0 ? undefined : `the two books differ in ${count(differing, "row")}`,
  };
}

const COLUMNS = ["verdict", "line", "key", "theirs", "ours"];

/** An amount has its status before it if it is not owed. */
function differenceRow(row: Static<typeof DifferenceSchema>) {
  const { verdict, line, key, problem, txnId, theirAmount, theirStatus, ourAmount, ourStatus } = row;
  const cell = (amount: string | null, status: string | null) =>
    amount === null || status === "success" ? amount : `${status} ${amount}`;
  return {
    ...{ verdict: verdictWords(verdict), line },
    key: problem === null ? (key ?? txnId) : `${key ?? ""} (${problem})`.trim(),
    ...{ theirs: cell(theirAmount, theirStatus), ours: cell(ourAmount, ourStatus) },
  };
}

function verdictWords(verdict: Verdict): string {
  return verdict.replaceAll("_", " ");
}
