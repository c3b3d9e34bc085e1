import { apiUrl } from "../../api/client.ts";
import { useApi, usePages } from "../../api/hooks.ts";
import { asInput } from "../../api/request.ts";
import type { Transaction, TransactionTotals } from "../../api/staff-api.d.ts";
import type { Column } from "../../components/data-table.tsx";
import { Amount, Grid, Stat, Time } from "../../components/display.tsx";
import { type Filter, useFilters, usePartnerOptions } from "../../components/filters.tsx";
import { ListPage } from "../../components/list-page.tsx";
import { EmptyState, Loaded } from "../../components/states.tsx";
import { formatCount } from "../../format.ts";
import { transactionHref } from "../../links.ts";
import { useEnvironment } from "../../shell/environment.tsx";
import { texts } from "../../texts/index.ts";
import { connectionName } from "../customers/connection-badge.tsx";
import { TransactionBadge } from "./top-up.tsx";

const t = texts.transactions;

const FILTERS = {
  from: { label: t.from, type: "date" },
  to: { label: t.to, type: "date" },
  partner: { label: t.partner },
  service: { label: t.service, options: Object.entries(texts.common.services) },
  status: { label: t.status, options: Object.entries(t.statuses) },
  cuid: { label: t.cuid, isRare: true },
  reqId: { label: t.reqId, hint: t.reqIdHint, isRare: true },
  bouquet: { label: t.bouquet, hint: t.bouquetHint, isRare: true },
  amount: { label: t.amount, isRare: true },
  udf1: { label: t.udf1, isRare: true },
  udf2: { label: t.udf2, isRare: true },
} as const satisfies Readonly<Record<string, Filter>>;
const NAMES = Object.keys(FILTERS) as (keyof typeof FILTERS)[];

export default function Transactions() {
  const environment = useEnvironment();
  const [values] = useFilters(NAMES);
  const partners = usePartnerOptions(values.partner);
  const query = { environment, ...asInput("GET /transactions", values) };
  const list = usePages("GET /transactions", query);
  const totals = useApi("GET /transactions/totals", query);
  return (
    <ListPage
      title={texts.shell.pages.transactions}
      csv={apiUrl("GET /transactions.csv", query)}
      filters={{ ...FILTERS, partner: { label: t.partner, options: partners } }}
      label={t.list}
      list={list}
      columns={COLUMNS}
      rowKey={({ txnId }) => txnId}
      rowHref={transactionHref}
      empty={<EmptyState title={t.emptyTitle}>{t.emptyText}</EmptyState>}
      emptyFiltered={<EmptyState title={t.emptyTitle}>{t.emptyFilteredText}</EmptyState>}
    >
      <Loaded of={totals}>{(found) => <Totals totals={found} />}</Loaded>
    </ListPage>
  );
}

function Totals({ totals: { count, amount, reversed, reversedAmount } }: { totals: TransactionTotals }) {
  return (
    <section aria-label={t.totals}>
      <Grid>
        <Stat label={t.count} value={formatCount(count)} />
        <Stat label={t.sum} value={<Amount of={amount} />} />
        <Stat label={t.reversed} value={formatCount(reversed)} />
        <Stat label={t.reversedAmount} value={<Amount of={reversedAmount} />} />
      </Grid>
    </section>
  );
}

export const COLUMNS: readonly Column<Transaction>[] = [
  { header: t.at, cell: ({ txnDate }) => <Time of={txnDate} /> },
  { header: t.partner, cell: ({ partner }) => partner },
  { header: t.customer, cell: ({ cuid }) => <span className="number">{cuid}</span> },
  { header: t.connection, cell: (transaction) => connectionName(transaction) },
  { header: t.bouquet, cell: ({ bouquetName, bouquetId }) => bouquetName ?? bouquetId },
  { header: t.amount, isNumber: true, cell: ({ amount }) => <Amount of={amount} /> },
  { header: t.status, cell: ({ status }) => <TransactionBadge status={status} /> },
];
