import { apiUrl } from "../../api/client.ts";
import { useApi, usePages } from "../../api/hooks.ts";
import { asInput } from "../../api/request.ts";
import type { ListedConnection } from "../../api/staff-api.d.ts";
import { Button, LinkButton } from "../../components/button.tsx";
import type { Options } from "../../components/controls.tsx";
import type { Column } from "../../components/data-table.tsx";
import { Badge, CustomerName, connectionName, Time } from "../../components/display.tsx";
import { useEnvironment } from "../../components/environment.tsx";
import { type Filter, useFilters } from "../../components/filters.tsx";
import { ListPage } from "../../components/list-page.tsx";
import { EmptyState } from "../../components/states.tsx";
import { countOf } from "../../format.ts";
import { customerHref } from "../../links.ts";
import { texts } from "../../texts/index.ts";
import { STATE_TONES } from "./plan-state.tsx";

const t = texts.customers;

const NAMES = ["endsWithin", "endedWithin", "state", "area", "segment", "service"] as const;

/** Choices of days. The address can have another number. */
function daysUpTo(given: string, ...usual: number[]): Options {
  const days = new Set([...usual, ...(given === "" ? [] : [Number(given)])]);
  return [...days].sort((a, b) => (a < b ? -1 : 1)).map((each) => [String(each), countOf(each, "day")] as const);
}

export default function Customers() {
  const environment = useEnvironment();
  const [{ q }, setSearch] = useFilters(["q"]);
  const [values] = useFilters(NAMES);
  const segments = useApi("GET /segments", { environment }).data?.items ?? [];
  const areas = useApi("GET /areas", { environment }).data?.items ?? [];
  const query = { environment, ...(q === "" ? asInput("GET /connections", values) : { search: q }) };
  const list = usePages("GET /connections", query);
  const filters: Readonly<Record<(typeof NAMES)[number], Filter>> = {
    endsWithin: { label: t.endsWithin, options: daysUpTo(values.endsWithin, 3, 7, 14, 30) },
    endedWithin: { label: t.endedWithin, options: daysUpTo(values.endedWithin, 3, 7, 14, 30, 90) },
    state: { label: t.state, options: Object.entries(t.states) },
    area: { label: t.area, options: areas.map(({ area }) => [area, area] as const) },
    segment: { label: t.segmentFilter, options: segments.map(({ segment }) => [segment, segment] as const) },
    service: { label: t.service, options: Object.entries(texts.common.services) },
  };
  return (
    <ListPage
      title={texts.shell.pages.customers}
      csv={apiUrl("GET /connections.csv", query)}
      {...(q === "" ? { filters } : { lead: <Searched q={q} onRemove={() => setSearch({ q: "" })} /> })}
      label={t.list}
      list={list}
      columns={COLUMNS}
      rowKey={({ cuid, service, reqId, plan }) => [cuid, service, reqId, plan].join(" ")}
      rowHref={customerHref}
      empty={
        q === "" ? (
          <EmptyState title={t.noneTitle} action={<LinkButton href="/imports">{t.toImports}</LinkButton>}>
            {t.noneText}
          </EmptyState>
        ) : (
          <EmptyState title={t.noMatchTitle}>{t.noMatchText}</EmptyState>
        )
      }
      emptyFiltered={<EmptyState title={t.noMatchTitle}>{t.noMatchFiltered}</EmptyState>}
    />
  );
}

/** The searched text, with a button that removes it. */
function Searched({ q, onRemove }: { q: string; onRemove: () => void }) {
  return (
    <Button icon="close" onClick={onRemove}>
      <span className="visually-hidden">{t.removeSearch}</span> {t.searched(q)}
    </Button>
  );
}

const COLUMNS: readonly Column<ListedConnection>[] = [
  {
    header: t.name,
    cell: (row) => <CustomerName cuid={row.cuid} customer={row} />,
  },
  {
    header: t.connection,
    cell: ({ service, reqId }) => (service === null || reqId === null ? "–" : connectionName({ service, reqId })),
  },
  { header: t.planColumn, isWide: true, cell: ({ bouquetName }) => bouquetName ?? "–" },
  { header: t.area, cell: ({ area }) => area ?? "–" },
  { header: t.segmentFilter, cell: ({ segment }) => segment ?? "–" },
  { header: t.end, place: "amount", cell: ({ end }) => <Time of={end} /> },
  { header: t.daysLeft, isNumber: true, cell: ({ daysLeft }) => daysLeft ?? "–" },
  { header: t.status, cell: ({ state }) => <Badge tone={STATE_TONES[state]}>{t.planStates[state]}</Badge> },
];
