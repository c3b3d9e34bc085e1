import { Link } from "wouter";
import { apiUrl } from "../../api/client.ts";
import { type Pages, useApi, usePages } from "../../api/hooks.ts";
import { useMe } from "../../api/session.tsx";
import type { AccountEntry, Statement as StatementData } from "../../api/staff-api.d.ts";
import { Button, DownloadButton } from "../../components/button.tsx";
import { type Column, DataTable, PagedTable } from "../../components/data-table.tsx";
import { Amount, Card, Fact, Time, TxnId } from "../../components/display.tsx";
import { useEnvironment } from "../../components/environment.tsx";
import { useFilters } from "../../components/filters.tsx";
import { Loaded, Note } from "../../components/states.tsx";
import { formatCount, formatMoney, periodName } from "../../format.ts";
import { transactionHref } from "../../links.ts";
import { texts } from "../../texts/index.ts";
import { PeriodHead, Signatures } from "../settlement/paper.tsx";
import { OTHER_DAYS, PERIOD_NAMES, PeriodFilters, periodInput } from "../settlement/period.tsx";

const t = texts.partnerAccounts;

/** Entries of an account, with the statement if they are those of a month. */
export function Statement({ partner }: { partner: string }) {
  const [values, setValues] = useFilters(PERIOD_NAMES);
  const { months } = useMe().provider.calendar;
  const account = { name: partner, environment: useEnvironment() };
  const entries = usePages("GET /partners/:name/account/entries", { ...account, ...periodInput(values) });
  const month = values.period || (months[0] ?? "");
  return (
    <>
      <search className="filters">
        <PeriodFilters chosen={values} onApply={setValues} />
      </search>
      {month !== OTHER_DAYS && <Month of={{ ...account, month }} />}
      <div className="no-print">
        <Card title={t.entries}>
          {entries.first?.prunedBefore && <Note tone="warning">{t.pruned(entries.first.prunedBefore)}</Note>}
          <PagedTable label={t.entries} pages={withBalances(entries)} columns={ENTRIES} rowKey={keyOf} />
        </Card>
      </div>
      {month !== OTHER_DAYS && <Signatures partner={partner} />}
    </>
  );
}

interface MonthProps {
  readonly of: { readonly name: string; readonly environment: StatementData["environment"]; readonly month: string };
}

/** Totals of a month by kind of entry, as a page to print. */
function Month({ of }: MonthProps) {
  const statement = useApi("GET /partners/:name/statement", of);
  return (
    <Loaded of={statement}>
      {(found) => (
        <>
          <PeriodHead title={t.statement} of={found} partner={of.name}>
            <Fact label={t.lines.closing} value={<Owing statement={found} />} />
          </PeriodHead>
          <Card
            title={t.statement}
            actions={
              <div className="no-print row">
                <DownloadButton href={apiUrl("GET /partners/:name/statement.csv", of)}>
                  {texts.common.download}
                </DownloadButton>
                <Button onClick={() => window.print()}>{texts.common.print}</Button>
              </div>
            }
          >
            {found.open && <Note tone="warning">{texts.settlement.open(periodName(found.from, found.to))}</Note>}
            <DataTable label={t.statement} columns={LINES} rows={linesOf(found)} rowKey={lineKey} />
            <p className="no-print strong">
              <Owing statement={found} />
            </p>
          </Card>
        </>
      )}
    </Loaded>
  );
}

/** The debtor, the creditor and the amount in words. */
function Owing({ statement: { partner, owing, owed, currency } }: { statement: StatementData }) {
  const { name } = useMe().provider.letterhead;
  const { legalName } = useApi("GET /partners/:name", { name: partner }).data ?? {};
  return t.owing[owing](legalName ?? partner, name ?? t.provider, formatMoney(owed, currency));
}

type Line = keyof typeof t.lines;
type StatementLine = Omit<StatementData["lines"][number], "kind"> & { readonly kind: Line };

function linesOf({ opening, lines, closing }: StatementData): readonly StatementLine[] {
  const balance = (kind: Line, amount: string) => {
    return { kind, count: null, txnDate: null, reference: null, reason: null, amount };
  };
  return [balance("opening", opening), ...lines, balance("closing", closing)];
}

function lineKey({ kind, reference }: StatementLine): string {
  return `${kind} ${reference}`;
}

/** An entry, or a balance before or after all of them. */
type Row = Omit<AccountEntry, "kind" | "txnDate" | "amount"> & {
  readonly kind: Line;
  readonly txnDate: string | null;
  readonly amount: string | null;
};

const NO_ENTRY = {
  txnDate: null,
  at: "",
  gross: null,
  commission: null,
  base: null,
  taxes: null,
  amount: null,
  reference: null,
  txnId: null,
  checkoutId: null,
  author: null,
  reason: null,
};

type EntryPages = Pages<AccountEntry> & { readonly first: { opening: string; closing: string } | undefined };

/** Adds the closing balance, and the opening balance when all entries are loaded. */
function withBalances(pages: EntryPages): Pages<Row> {
  const { first, items, hasMore } = pages;
  if (first === undefined) return pages;
  const balance = (kind: Line, of: string) => ({ ...NO_ENTRY, kind, balance: of });
  const end = hasMore ? [] : [balance("opening", first.opening)];
  return { ...pages, items: [balance("closing", first.closing), ...items, ...end] };
}

function keyOf({ kind, txnId, reference }: Row): string {
  return [kind, txnId, reference].join(" ");
}

const ENTRIES: readonly Column<Row>[] = [
  { header: t.at, cell: ({ txnDate }) => <Time of={txnDate} exact none="" /> },
  {
    header: t.entry,
    place: "name",
    cell: ({ kind, txnId }) => {
      if (txnId !== null) return <Link href={transactionHref({ txnId })}>{t.lines[kind]}</Link>;
      return isBalance(kind) ? <strong>{t.lines[kind]}</strong> : t.lines[kind];
    },
  },
  {
    header: t.reference,
    place: "hidden",
    cell: ({ txnId, reference }) => (txnId === null ? reference : <TxnId of={txnId} />),
  },
  { header: t.gross, cell: ({ gross }) => gross && <Amount of={gross} bare />, isAmount: true, place: "hidden" },
  {
    header: t.commission,
    cell: ({ commission }) => commission && <Amount of={commission} bare />,
    isAmount: true,
    place: "hidden",
  },
  { header: t.amount, cell: ({ amount }) => amount && <Amount of={amount} bare />, isAmount: true, place: "amount" },
  {
    header: t.balance,
    cell: ({ balance }) => (
      <strong>
        <Amount of={balance} bare />
      </strong>
    ),
    isAmount: true,
  },
  { header: t.author, cell: ({ author }) => author },
  { header: t.reason, cell: ({ reason }) => reason, isWide: true },
];

const LINES: readonly Column<StatementLine>[] = [
  {
    header: t.entry,
    cell: ({ kind, count }) => {
      if (isBalance(kind)) return <strong>{t.lines[kind]}</strong>;
      return count === null ? t.lines[kind] : t.counted(kind, formatCount(count));
    },
  },
  { header: t.at, cell: ({ txnDate }) => <Time of={txnDate} exact none="" /> },
  { header: t.reference, cell: ({ reference }) => reference },
  { header: t.reason, cell: ({ reason }) => reason, isWide: true },
  {
    header: t.amount,
    cell: ({ kind, amount }) => {
      const shown = <Amount of={amount} bare />;
      return isBalance(kind) ? <strong>{shown}</strong> : shown;
    },
    isAmount: true,
  },
];

function isBalance(kind: Line): kind is "opening" | "closing" {
  return kind === "opening" || kind === "closing";
}
