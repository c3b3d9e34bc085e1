import { useLive } from "../../api/hooks.ts";
import { LinkButton } from "../../components/button.tsx";
import { LoadedTable } from "../../components/data-table.tsx";
import { Card } from "../../components/display.tsx";
import { useEnvironment } from "../../components/environment.tsx";
import { EmptyState } from "../../components/states.tsx";
import { transactionHref } from "../../links.ts";
import { texts } from "../../texts/index.ts";
import { COLUMNS } from "../transactions/transactions.tsx";

const t = texts.overview;
const SHOWN = 10;

/** The last top-ups. @param count today's top-ups: the list is read again only if their number changes. */
export function LatestTopUps({ count }: { count: number }) {
  const latest = useLive("GET /transactions", { environment: useEnvironment(), limit: SHOWN }, { version: count });
  return (
    <Card title={t.latest} actions={<LinkButton href="/transactions">{t.toTransactions}</LinkButton>}>
      <LoadedTable
        label={t.latest}
        list={latest}
        columns={COLUMNS}
        rowKey={({ txnId }) => txnId}
        rowHref={transactionHref}
        empty={<EmptyState title={texts.transactions.emptyTitle} />}
      />
    </Card>
  );
}
