import type { Pages } from "../../api/hooks.ts";
import type { Attempt } from "../../api/staff-api.d.ts";
import { type Column, PagedTable } from "../../components/data-table.tsx";
import { Card, Code, Time } from "../../components/display.tsx";
import { EmptyState } from "../../components/states.tsx";
import { texts } from "../../texts/index.ts";

const t = texts.customers;

export const REFUSED_CALLS_ID = "refused-calls";

/** The calls of partners for a customer that were refused. */
export function RefusedCalls({ attempts }: { attempts: Pages<Attempt> }) {
  return (
    <div id={REFUSED_CALLS_ID} tabIndex={-1}>
      <Card title={t.attempts}>
        <PagedTable
          label={t.attempts}
          pages={attempts}
          columns={COLUMNS}
          rowKey={({ at, requestId }) => `${at} ${requestId}`}
          empty={<EmptyState title={t.noAttemptsTitle}>{t.noAttemptsText}</EmptyState>}
        />
      </Card>
    </div>
  );
}

const COLUMNS: readonly Column<Attempt>[] = [
  { id: "at", header: t.attemptAt, cell: ({ at }) => <Time of={at} /> },
  { id: "partner", header: t.attemptPartner, cell: ({ partner }) => partner },
  { id: "operation", header: t.attemptOperation, cell: ({ operation }) => texts.operations[operation] ?? operation },
  {
    id: "reason",
    header: t.attemptReason,
    cell: ({ reason }) => (
      <span>
        {texts.reasons[reason] ?? reason} <Code>{reason}</Code>
      </span>
    ),
  },
  { id: "code", header: t.attemptCode, cell: ({ code }) => <span className="number">{code ?? "–"}</span> },
  { id: "requestId", header: t.attemptRequest, cell: ({ requestId }) => <Code>{requestId}</Code> },
];
