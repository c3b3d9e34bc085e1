import { Link } from "wouter";
import { apiUrl } from "../../api/client.ts";
import { usePages, useSums } from "../../api/hooks.ts";
import { asInput } from "../../api/request.ts";
import type { ListedTransaction, TransactionTotals } from "../../api/staff-api.d.ts";
import type { Column } from "../../components/data-table.tsx";
import { Amount, CustomerName, connectionName, Time, TxnId } from "../../components/display.tsx";
import { useEnvironment } from "../../components/environment.tsx";
import { PERIOD_NAMES, useFilters, usePartnerOptions } from "../../components/filters.tsx";
import { ListPage } from "../../components/list-page.tsx";
import { EmptyState } from "../../components/states.tsx";
import { countOf, formatCount } from "../../format.ts";
import { customerHref, transactionHref } from "../../links.ts";
import { texts } from "../../texts/index.ts";
import { TransactionBadge } from "./top-up.tsx";

const t = texts.transactions;

const NAMES = [...PERIOD_NAMES, ...(Object.keys(t.filters) as (keyof typeof t.filters)[])];

export default function Transactions() {
  const environment = useEnvironment();
  const [values] = useFilters(NAMES);
  const partners = usePartnerOptions(values.partner);
  const query = { environment, ...asInput("GET /transactions", values) };
  const list = usePages("GET /transactions", query);
  const totals = useSums("GET /transactions/totals", query);
  return (
    <ListPage
      title={texts.shell.pages.transactions}
      lead={totals && <Totals totals={totals} />}
      csv={apiUrl("GET /transactions.csv", query)}
      hasPeriod
      filters={{ ...t.filters, partner: { ...t.filters.partner, options: partners } }}
      label={t.list}
      list={list}
      columns={COLUMNS}
      rowKey={({ txnId }) => txnId}
      rowHref={transactionHref}
      empty={<EmptyState title={t.emptyTitle}>{t.emptyText}</EmptyState>}
      emptyFiltered={<EmptyState title={t.emptyTitle}>{t.emptyFilteredText}</EmptyState>}
    />
  );
}

function Totals({ totals: { count, amount, reversed, reversedAmount, reached } }: { totals: TransactionTotals }) {
  return (
    <>
      {countOf(count, t.topUpOne)}, <Amount of={amount} />
      {reversed > 0 && (
        <>
          ; {t.reversedOf(formatCount(reversed))}, <Amount of={reversedAmount} />
        </>
      )}
      {reached !== null && t.soFar(reached)}
    </>
  );
}

export const COLUMNS: readonly Column<ListedTransaction>[] = [
  { header: t.at, cell: ({ txnDate }) => <Time of={txnDate} exact /> },
  { header: t.partner, cell: ({ partner }) => partner },
  {
    header: t.customer,
    place: "name",
    cell: ({ cuid, customer }) => (
      <Link href={customerHref({ cuid })}>
        <CustomerName cuid={cuid} customer={customer} />
      </Link>
    ),
  },
  { header: t.connection, cell: (transaction) => connectionName(transaction) },
  { header: t.bouquet, isWide: true, cell: ({ bouquetName, bouquetId }) => bouquetName ?? bouquetId },
  { header: t.amount, isAmount: true, cell: ({ amount }) => <Amount of={amount} bare /> },
  { header: t.status, cell: ({ status }) => <TransactionBadge status={status} /> },
  { header: t.txnId, cell: ({ txnId }) => <TxnId of={txnId} /> },
];
