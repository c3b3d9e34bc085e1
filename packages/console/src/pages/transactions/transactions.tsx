import { apiUrl } from "../../api/client.ts";
import { useApi, usePages } from "../../api/hooks.ts";
import type { ApiProblem } from "../../api/problem.ts";
import { asInput } from "../../api/request.ts";
import type { Transaction, TransactionTotals } from "../../api/staff-api.d.ts";
import { DownloadButton } from "../../components/button.tsx";
import { Select, TextInput } from "../../components/controls.tsx";
import { type Column, PagedTable } from "../../components/data-table.tsx";
import { Amount, Grid, Stat, Time } from "../../components/display.tsx";
import { Filters, MoreFilters, useFilters } from "../../components/filters.tsx";
import { Field } from "../../components/form.tsx";
import { EmptyState, ErrorNote, Loaded } from "../../components/states.tsx";
import { formatCount } from "../../format.ts";
import { transactionHref } from "../../links.ts";
import { useEnvironment } from "../../shell/environment.tsx";
import { PageHead } from "../../shell/page-head.tsx";
import { texts } from "../../texts/index.ts";
import { connectionName } from "../customers/connection-badge.tsx";
import { TransactionBadge } from "./top-up.tsx";

const t = texts.transactions;

const USUAL = ["from", "to", "partner", "service", "status"] as const;
const MORE = ["cuid", "reqId", "bouquet", "amount", "udf1", "udf2"] as const;
const NAMES = [...USUAL, ...MORE] as const;

export default function Transactions() {
  const environment = useEnvironment();
  const [filters] = useFilters(NAMES);
  const query = { environment, ...asInput("GET /transactions", filters) };
  const list = usePages("GET /transactions", query);
  const totals = useApi("GET /transactions/totals", query);
  const isFiltered = NAMES.some((name) => filters[name] !== "");
  return (
    <>
      <PageHead
        title={texts.shell.pages.transactions}
        actions={<DownloadButton href={apiUrl("GET /transactions.csv", query)}>{texts.common.download}</DownloadButton>}
      />
      <TransactionFilters values={filters} error={list.error} />
      {list.error === null && (
        <>
          <Loaded of={totals}>{(found) => <Totals totals={found} />}</Loaded>
          <PagedTable
            label={t.list}
            pages={list}
            columns={COLUMNS}
            rowKey={({ txnId }) => txnId}
            rowHref={transactionHref}
            empty={<EmptyState title={t.emptyTitle}>{isFiltered ? t.emptyFilteredText : t.emptyText}</EmptyState>}
          />
        </>
      )}
    </>
  );
}

type Values = Readonly<Record<(typeof NAMES)[number], string>>;

function TransactionFilters({ values, error }: { values: Values; error: ApiProblem | null }) {
  const partners = useApi("GET /partners");
  const names = partners.data?.items.map(({ name }) => name) ?? [values.partner].filter(Boolean);
  const wrong = (name: string) => error?.problem.fields?.find(({ field }) => field === name)?.problem;
  const text = (name: keyof Values, hint?: string) => (
    <Field name={name} label={t[name]} error={wrong(name)} {...(hint !== undefined && { hint })}>
      <TextInput defaultValue={values[name]} maxLength={200} />
    </Field>
  );
  const isOfFields = NAMES.some((name) => wrong(name) !== undefined);
  return (
    <>
      <Filters names={NAMES}>
        <Field name="from" label={t.from} error={wrong("from")}>
          <TextInput type="date" defaultValue={values.from} />
        </Field>
        <Field name="to" label={t.to} error={wrong("to")}>
          <TextInput type="date" defaultValue={values.to} />
        </Field>
        <Field name="partner" label={t.partner} error={wrong("partner")}>
          <Select
            // Its choices come later than the page.
            key={names.length}
            any={texts.common.any}
            options={names.map((name) => [name, name] as const)}
            defaultValue={values.partner}
          />
        </Field>
        <Field name="service" label={t.service} error={wrong("service")}>
          <Select
            any={texts.common.any}
            options={Object.entries(texts.common.services)}
            defaultValue={values.service}
          />
        </Field>
        <Field name="status" label={t.status} error={wrong("status")}>
          <Select any={texts.common.any} options={Object.entries(t.statuses)} defaultValue={values.status} />
        </Field>
        <MoreFilters isSet={MORE.some((name) => values[name] !== "")}>
          {text("cuid")}
          {text("reqId", t.reqIdHint)}
          {text("bouquet", t.bouquetHint)}
          {text("amount")}
          {text("udf1")}
          {text("udf2")}
        </MoreFilters>
      </Filters>
      {error !== null && !isOfFields && <ErrorNote error={error} />}
    </>
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

const COLUMNS: readonly Column<Transaction>[] = [
  { id: "at", header: t.at, cell: ({ txnDate }) => <Time of={txnDate} /> },
  { id: "partner", header: t.partner, cell: ({ partner }) => partner },
  { id: "cuid", header: t.customer, cell: ({ cuid }) => <span className="number">{cuid}</span> },
  { id: "connection", header: t.connection, cell: (transaction) => connectionName(transaction) },
  { id: "bouquet", header: t.bouquet, cell: ({ bouquetName, bouquetId }) => bouquetName ?? bouquetId },
  { id: "amount", header: t.amount, isNumber: true, cell: ({ amount }) => <Amount of={amount} /> },
  { id: "status", header: t.status, cell: ({ status }) => <TransactionBadge status={status} /> },
];
