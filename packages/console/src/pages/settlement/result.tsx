import { Link } from "wouter";
import type { Reconciliation } from "../../api/staff-api.d.ts";
import { Button } from "../../components/button.tsx";
import { type Column, DataTable, LongTable } from "../../components/data-table.tsx";
import { Amount, Card, Code, Time } from "../../components/display.tsx";
import { Note } from "../../components/states.tsx";
import { formatCount } from "../../format.ts";
import { transactionHref } from "../../links.ts";
import { texts } from "../../texts/index.ts";
import { type Difference, differencesCsv } from "./differences-csv.ts";

const t = texts.settlement;

/** Totals of a reconciliation, then each finding with its next step. */
export function ReconciliationResult({ title, found }: { title: string; found: Reconciliation }) {
  const { total, verdicts, differences } = found;
  const all: Total = { verdict: "", advice: null, ...total };
  const findings = verdicts.filter(({ advice }) => advice !== null);
  const count = findings.reduce((sum, { rows }) => sum + rows, 0);
  return (
    <>
      <Card
        title={`${t.result}: ${title}`}
        actions={
          differences.length > 0 && (
            <Button icon="download" onClick={() => downloadDifferences(differences)}>
              {t.differencesCsv}
            </Button>
          )
        }
      >
        {findings.length === 0 && <Note tone="success">{t.same}</Note>}
        {count > differences.length && <Note tone="warning">{t.atMost(formatCount(differences.length))}</Note>}
        <DataTable label={t.result} columns={TOTALS} rows={[...verdicts, all]} rowKey={({ verdict }) => verdict} />
      </Card>
      {findings.map(({ verdict, advice }) => (
        <Finding
          key={verdict}
          title={verdictName(verdict)}
          advice={advice}
          differences={differences.filter((each) => each.verdict === verdict)}
        />
      ))}
    </>
  );
}

interface FindingProps {
  readonly title: string;
  readonly advice: string | null;
  readonly differences: readonly Difference[];
}

function Finding({ title, advice, differences }: FindingProps) {
  const isUnreadable = differences.every(({ problem }) => problem !== null);
  return (
    <Card title={title}>
      <p>
        <strong>{t.whatToDo}</strong> {advice}
      </p>
      <LongTable
        label={title}
        columns={isUnreadable ? [LINE, KEY, PROBLEM] : [LINE, KEY, ...BOOKS]}
        rows={differences}
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
  { header: t.theirs, cell: ({ theirs }) => <Amount of={theirs} />, isNumber: true },
  { header: t.ours, cell: ({ ours }) => <Amount of={ours} />, isNumber: true },
  {
    header: t.difference,
    cell: ({ difference }) => (
      <strong>
        <Amount of={difference} />
      </strong>
    ),
    isNumber: true,
  },
];

const LINE: Column<Difference> = { header: t.line, cell: ({ line }) => (line === null ? "–" : formatCount(line)) };

const KEY: Column<Difference> = {
  header: t.keyValue,
  cell: ({ key, checkoutId }) => <Code>{key ?? checkoutId ?? "–"}</Code>,
};

const PROBLEM: Column<Difference> = { header: t.problem, cell: ({ problem }) => problem };

const BOOKS: readonly Column<Difference>[] = [
  {
    header: t.theirs,
    cell: ({ theirAmount, theirStatus }) => <OneBook amount={theirAmount} status={theirStatus} />,
    isNumber: true,
  },
  {
    header: t.ours,
    cell: ({ ourAmount, ourStatus }) => <OneBook amount={ourAmount} status={ourStatus} />,
    isNumber: true,
  },
  { header: t.txnDate, cell: ({ txnDate }) => <Time of={txnDate} /> },
  {
    header: t.transaction,
    cell: ({ txnId }) => (txnId === null ? "–" : <Link href={transactionHref({ txnId })}>{txnId}</Link>),
  },
];

function OneBook({ amount, status }: { amount: string | null; status: string | null }) {
  return (
    <span>
      <Amount of={amount} /> {status !== null && <span className="muted">{status}</span>}
    </span>
  );
}
