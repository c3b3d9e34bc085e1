import { useMemo } from "react";
import { Link } from "wouter";
import { usePages } from "../../api/hooks.ts";
import { asInput } from "../../api/request.ts";
import type { AuditEntry } from "../../api/staff-api.d.ts";
import { Select, TextInput } from "../../components/controls.tsx";
import { type Column, PagedTable } from "../../components/data-table.tsx";
import { Time } from "../../components/display.tsx";
import { Filters, useFilters } from "../../components/filters.tsx";
import { Field } from "../../components/form.tsx";
import { EmptyState } from "../../components/states.tsx";
import { customerHref, transactionHref } from "../../links.ts";
import { useEnvironment } from "../../shell/environment.tsx";
import { PageHead } from "../../shell/page-head.tsx";
import { texts } from "../../texts/index.ts";
import { Change } from "./change.tsx";

const t = texts.audit;
const FILTERS = ["from", "to", "author", "action", "cuid"] as const;
const ACTIONS = Object.entries(t.actions);

export default function Audit() {
  const [filters] = useFilters(FILTERS);
  const entries = usePages("GET /audit", { ...asInput("GET /audit", filters), limit: 50 });
  const columns = useMemo(() => columnsFor(filters.cuid), [filters.cuid]);
  const isFiltered = Object.values(filters).some((value) => value !== "");
  return (
    <>
      <PageHead title={texts.shell.pages.audit} lead={t.lead} />
      <Filters names={FILTERS}>
        <Field name="from" label={t.from}>
          <TextInput type="date" defaultValue={filters.from} />
        </Field>
        <Field name="to" label={t.to}>
          <TextInput type="date" defaultValue={filters.to} />
        </Field>
        <Field name="author" label={t.author}>
          <TextInput defaultValue={filters.author} />
        </Field>
        <Field name="action" label={t.action}>
          <Select options={ACTIONS} any={texts.common.any} defaultValue={filters.action} />
        </Field>
        <Field name="cuid" label={t.cuid}>
          <TextInput defaultValue={filters.cuid} autoCapitalize="none" />
        </Field>
      </Filters>
      <PagedTable
        label={t.list}
        columns={columns}
        pages={entries}
        rowKey={({ seq }) => String(seq)}
        empty={
          isFiltered ? (
            <EmptyState title={t.emptyFiltered}>{t.emptyFilteredText}</EmptyState>
          ) : (
            <EmptyState title={t.emptyTitle}>{t.empty}</EmptyState>
          )
        }
      />
    </>
  );
}

/** @param cuid shows only entries of this customer; "" shows all. */
function columnsFor(cuid: string): readonly Column<AuditEntry>[] {
  return [
    { id: "at", header: t.at, cell: ({ at }) => <Time of={at} /> },
    { id: "author", header: t.author, cell: ({ author }) => author },
    { id: "action", header: t.action, isWide: true, cell: (entry) => <What of={entry} /> },
    { id: "change", header: t.change, isWide: true, cell: (entry) => <Change of={entry} ofCustomer={cuid !== ""} /> },
  ];
}

function What({ of: { action, subject, reason } }: { of: AuditEntry }) {
  return (
    <div>
      <p className="strong">{t.actions[action] ?? action}</p>
      <p>
        <Subject of={subject} />
      </p>
      {reason !== null && <p className="muted">{reason}</p>}
    </div>
  );
}

/** A subject `ENVIRONMENT CUID SERVICE REQID`, after the txnId if it is a transaction. */
const OF_CONNECTION = /^(?:(\S+) )?(trial|production) (\S+) ((?:tv|internet|iptv) .+)$/;

/** Links to the transaction and the customer if they belong to the shown environment. */
function Subject({ of: subject }: { of: string }) {
  const shown = useEnvironment();
  const [, txnId, environment, cuid = "", connection] = OF_CONNECTION.exec(subject) ?? [];
  if (environment !== shown) return subject;
  return (
    <>
      {txnId !== undefined && <Link href={transactionHref({ txnId })}>{txnId}</Link>} {environment}{" "}
      <Link href={customerHref({ cuid })}>{cuid}</Link> {connection}
    </>
  );
}
