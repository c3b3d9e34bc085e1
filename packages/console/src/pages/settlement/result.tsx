import { useState } from "react";
import { Link } from "wouter";
import type { Reconciliation } from "../../api/staff-api.d.ts";
import { Button } from "../../components/button.tsx";
import { type Column, DataTable, LongTable } from "../../components/data-table.tsx";
import { Amount, Card, Code, CustomerName, Time, TxnId } from "../../components/display.tsx";
import { SelectFilter } from "../../components/filters.tsx";
import { Note } from "../../components/states.tsx";
import { formatCount } from "../../format.ts";
import { customerHref, transactionHref } from "../../links.ts";
import { texts } from "../../texts/index.ts";
import { type Difference, differencesCsv } from "./differences-csv.ts";

const t = texts.settlement;

/** Totals of a reconciliation, then all differences in one table. */
export function ReconciliationResult({ title, found }: { title: string; found: Reconciliation }) {
  const { total, verdicts, differing, differences, prunedBefore } = found;
  const all: Total = { verdict: "", advice: null, ...total };
  const findings = verdicts.filter(({ advice }) => advice !== null);
  return (
    <>
      <Card title={`${t.result}: ${title}`}>
        {prunedBefore !== null && <Note tone="warning">{t.pruned(prunedBefore)}</Note>}
        {findings.length === 0 && <Note tone="success">{t.same}</Note>}
        {differing > differences.length && <Note tone="warning">{t.atMost(formatCount(differences.length))}</Note>}
        <DataTable label={t.result} columns={TOTALS} rows={[...verdicts, all]} rowKey={({ verdict }) => verdict} />
      </Card>
      {findings.length > 0 && <Differences findings={findings} differences={differences} />}
    </>
  );
}

interface DifferencesProps {
  readonly findings: Reconciliation["verdicts"];
  readonly differences: readonly Difference[];
}

function Differences({ findings, differences }: DifferencesProps) {
  const [verdict, setVerdict] = useState("");
  const isShown = (each: { readonly verdict: string }) => verdict === "" || each.verdict === verdict;
  const shown = differences.filter(isShown);
  const columns = shown.some(({ problem }) => problem !== null) ? [...COLUMNS, PROBLEM] : COLUMNS;
  return (
    <Card
      title={t.differences}
      actions={
        <>
          <SelectFilter
            name="verdict"
            label={t.finding}
            any={t.allFindings}
            value={verdict}
            options={findings.map((each) => [each.verdict, `${verdictName(each.verdict)} (${formatCount(each.rows)})`])}
            onApply={(next) => setVerdict(next["verdict"] ?? "")}
          />
          <Button icon="download" onClick={() => downloadDifferences(differences)}>
            {t.differencesCsv}
          </Button>
        </>
      }
    >
      <ul className="advice">
        {findings.filter(isShown).map((each) => (
          <li key={each.verdict}>
            <strong>{verdictName(each.verdict)}</strong>: {each.advice}
          </li>
        ))}
      </ul>
      <LongTable
        label={t.differences}
        columns={columns}
        rows={shown}
        rowKey={({ line, key, txnId }) => [line, key, txnId].join(" ")}
      />
    </Card>
  );
}

function downloadDifferences(differences: readonly Difference[]): void {
  const url = URL.createObjectURL(new Blob([differencesCsv(differences)], { type: "text/csv" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = "differences.csv";
  link.click();
  URL.revokeObjectURL(url);
}

function verdictName(verdict: string): string {
  return t.verdicts[verdict] ?? verdict;
}

/** Totals of a verdict; "" is the sum of all. */
type Total = Omit<Reconciliation["verdicts"][number], "verdict"> & { readonly verdict: Verdict | "" };
type Verdict = Reconciliation["verdicts"][number]["verdict"];

const TOTALS: readonly Column<Total>[] = [
  { header: t.finding, cell: ({ verdict }) => (verdict === "" ? <strong>{t.total}</strong> : verdictName(verdict)) },
  { header: t.rows, cell: ({ rows }) => formatCount(rows), isNumber: true },
  { header: t.theirs, cell: ({ theirs }) => <Amount of={theirs} bare />, isAmount: true },
  { header: t.ours, cell: ({ ours }) => <Amount of={ours} bare />, isAmount: true },
  {
    header: t.difference,
    cell: ({ difference }) => (
      <strong>
        <Amount of={difference} bare />
      </strong>
    ),
    isAmount: true,
  },
];

const COLUMNS: readonly Column<Difference>[] = [
  { header: t.finding, cell: ({ verdict }) => verdictName(verdict) },
  { header: t.line, isNumber: true, cell: ({ line }) => (line === null ? "–" : formatCount(line)) },
  { header: t.keyValue, cell: ({ key, checkoutId }) => <Code>{key ?? checkoutId ?? "–"}</Code> },
  {
    header: t.customer,
    cell: ({ cuid, customer }) =>
      cuid === null ? (
        "–"
      ) : (
        <Link href={customerHref({ cuid })}>
          <CustomerName cuid={cuid} customer={customer} />
        </Link>
      ),
  },
  {
    header: t.theirs,
    isAmount: true,
    cell: ({ theirAmount, theirStatus }) => <OneSide amount={theirAmount} status={theirStatus} />,
  },
  {
    header: t.ours,
    isAmount: true,
    cell: ({ ourAmount, ourStatus }) => <OneSide amount={ourAmount} status={ourStatus} />,
  },
  {
    header: t.txnDate,
    cell: ({ txnDate, txnId }) =>
      txnId === null ? (
        "–"
      ) : (
        <Link href={transactionHref({ txnId })}>
          <Time of={txnDate} exact />
        </Link>
      ),
  },
  { header: t.transaction, cell: ({ txnId }) => txnId && <TxnId of={txnId} /> },
];

const PROBLEM: Column<Difference> = { header: t.problem, isWide: true, cell: ({ problem }) => problem };

/** An amount, with its status if that is not a success. */
function OneSide({ amount, status }: { amount: string | null; status: string | null }) {
  return (
    <>
      {status !== null && status !== "success" && <span className="muted">{status} </span>}
      <Amount of={amount} bare />
    </>
  );
}
