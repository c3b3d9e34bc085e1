import { usePages } from "../../api/hooks.ts";
import { asInput } from "../../api/request.ts";
import { useEnvironment } from "../../components/environment.tsx";
import { PERIOD_NAMES, useFilters, usePartnerOptions } from "../../components/filters.tsx";
import { ListPage } from "../../components/list-page.tsx";
import { EmptyState } from "../../components/states.tsx";
import { texts } from "../../texts/index.ts";
import { CALL_COLUMNS, callKey } from "../customers/refused-calls.tsx";

const t = texts.refusedCalls;

const NAMES = [...PERIOD_NAMES, ...(Object.keys(t.filters) as (keyof typeof t.filters)[])];

export default function RefusedCallsPage() {
  const environment = useEnvironment();
  const [values] = useFilters(NAMES);
  const partners = usePartnerOptions(values.partner);
  const list = usePages("GET /refused-calls", { environment, ...asInput("GET /refused-calls", values) });
  return (
    <ListPage
      title={texts.shell.pages.refusedCalls}
      lead={t.lead}
      hasPeriod
      filters={{ ...t.filters, partner: { ...t.filters.partner, options: partners } }}
      label={t.list}
      list={list}
      columns={CALL_COLUMNS}
      rowKey={callKey}
      empty={<EmptyState title={t.emptyTitle}>{t.empty}</EmptyState>}
      emptyFiltered={<EmptyState title={t.emptyFiltered} />}
    />
  );
}
