import { Link } from "wouter";
import { usePages } from "../../api/hooks.ts";
import type { FailedDelivery, Target } from "../../api/staff-api.d.ts";
import { type Column, PagedTable } from "../../components/data-table.tsx";
import { Badge, Time } from "../../components/display.tsx";
import { EmptyState } from "../../components/states.tsx";
import { formatCount } from "../../format.ts";
import { useEnvironment } from "../../shell/environment.tsx";
import { texts } from "../../texts/index.ts";
import { customerHref } from "../customers/links.ts";

const t = texts.targets;

/** Events that failed, or wait behind a failed one. */
export function FailedDeliveries({ target }: { target: Target }) {
  const failed = usePages("GET /targets/:name/failed", { name: target.name });
  return (
    <PagedTable
      label={t.failed}
      columns={COLUMNS}
      pages={failed}
      rowKey={({ id }) => id}
      empty={<EmptyState title={t.failedEmptyTitle} />}
    />
  );
}

const COLUMNS: readonly Column<FailedDelivery>[] = [
  { id: "event", header: t.event, cell: ({ kind }) => t.events[kind] ?? kind },
  { id: "customer", header: t.customer, cell: (delivery) => <Customer of={delivery} /> },
  {
    ...{ id: "connection", header: t.connection },
    cell: ({ service, reqId }) => `${texts.common.services[service]} ${reqId}`,
  },
  { id: "problem", header: t.problem, cell: ({ problem, attempts }) => problem ?? (attempts === 0 && t.waitsBehind) },
  { id: "attempts", header: t.attempts, isNumber: true, cell: ({ attempts }) => formatCount(attempts) },
  { id: "failedAt", header: t.failsSince, cell: ({ failedAt }) => <Time of={failedAt} age /> },
  {
    ...{ id: "nextAt", header: t.nextTry },
    cell: ({ setAside, nextAt }) =>
      setAside ? <Badge tone="danger">{t.states.setAside}</Badge> : <Time of={nextAt} age />,
  },
];

/** The customer's page is of the environment that shows. */
function Customer({ of: { cuid, environment } }: { of: FailedDelivery }) {
  const shown = useEnvironment();
  if (environment === shown) return <Link href={customerHref({ cuid })}>{cuid}</Link>;
  return (
    <>
      {cuid} <Badge>{texts.common.environments[environment]}</Badge>
    </>
  );
}
