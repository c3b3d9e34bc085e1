import { usePages } from "../../api/hooks.ts";
import { asInput } from "../../api/request.ts";
import { useEnvironment } from "../../components/environment.tsx";
import { type Filter, PERIOD_NAMES, useFilters, usePartnerOptions } from "../../components/filters.tsx";
import { ListPage } from "../../components/list-page.tsx";
import { EmptyState } from "../../components/states.tsx";
import { texts } from "../../texts/index.ts";
import { CALL_COLUMNS, callKey } from "../customers/refused-calls.tsx";

const t = texts.refusedCalls;

const FILTERS = {
  partner: { label: t.partner },
  reason: { label: t.reason, options: Object.entries(t.reasons) },
} as const satisfies Readonly<Record<string, Filter>>;
const NAMES = [...PERIOD_NAMES, ...(Object.keys(FILTERS) as (keyof typeof FILTERS)[])];

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
      filters={{ ...FILTERS, partner: { label: t.partner, options: partners } }}
      label={t.list}
      list={list}
      columns={CALL_COLUMNS}
      rowKey={callKey}
      empty={<EmptyState title={t.emptyTitle}>{t.empty}</EmptyState>}
      emptyFiltered={<EmptyState title={t.emptyFiltered} />}
    />
  );
}
