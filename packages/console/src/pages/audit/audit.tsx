import { useMemo } from "react";
import { Link } from "wouter";
import { usePages } from "../../api/hooks.ts";
import { asInput } from "../../api/request.ts";
import type { AuditEntry } from "../../api/staff-api.d.ts";
import type { Column } from "../../components/data-table.tsx";
import { Time } from "../../components/display.tsx";
import { useEnvironment } from "../../components/environment.tsx";
import { PERIOD_NAMES, useFilters } from "../../components/filters.tsx";
import { ListPage } from "../../components/list-page.tsx";
import { EmptyState } from "../../components/states.tsx";
import { customerHref, transactionHref } from "../../links.ts";
import { texts } from "../../texts/index.ts";
import { Change } from "./change.tsx";

const t = texts.audit;
const NAMES = [...PERIOD_NAMES, ...(Object.keys(t.filters) as (keyof typeof t.filters)[])];

export default function Audit() {
  const [values] = useFilters(NAMES);
  const entries = usePages("GET /audit", { ...asInput("GET /audit", values), limit: 50 });
  const columns = useMemo(() => columnsFor(values.cuid), [values.cuid]);
  return (
    <ListPage
      title={texts.shell.pages.audit}
      lead={t.lead}
      hasPeriod
      filters={t.filters}
      label={t.list}
      list={entries}
      columns={columns}
      rowKey={({ seq }) => String(seq)}
      empty={<EmptyState title={t.emptyTitle}>{t.empty}</EmptyState>}
      emptyFiltered={<EmptyState title={t.emptyFiltered}>{t.emptyFilteredText}</EmptyState>}
    />
  );
}

/** @param cuid shows only entries of this customer; "" shows all. */
function columnsFor(cuid: string): readonly Column<AuditEntry>[] {
  return [
    { header: t.at, place: "amount", cell: ({ at }) => <Time of={at} exact /> },
    { header: t.author, cell: ({ author }) => author },
    { header: t.action, place: "name", cell: ({ action }) => <strong>{t.actions[action] ?? action}</strong> },
    { header: t.subject, isWide: true, cell: ({ subject }) => <Subject of={subject} /> },
    { header: t.change, isWide: true, cell: (entry) => <Change of={entry} ofCustomer={cuid !== ""} /> },
    { header: t.reason, isWide: true, cell: ({ reason }) => reason },
  ];
}

/** A subject `[TXNID ] ENVIRONMENT CUID SERVICE REQID`. */
const OF_CONNECTION = /^(?:(\S+) )?(trial|production) (\S+) ((?:tv|internet|iptv) .+)$/;

/** Links to the transaction and the customer if they belong to the shown environment. */
function Subject({ of: subject }: { of: string }) {
  const shown = useEnvironment();
  const [, txnId, environment, cuid = "", connection] = OF_CONNECTION.exec(subject) ?? [];
  if (environment !== shown) return subject;
  return (
    <>
      <Link href={customerHref({ cuid })}>{cuid}</Link>{" "}
      {txnId === undefined ? connection : <Link href={transactionHref({ txnId })}>{connection}</Link>}
    </>
  );
}
