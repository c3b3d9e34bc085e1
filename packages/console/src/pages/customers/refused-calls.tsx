import type { Pages } from "../../api/hooks.ts";
import type { RefusedCall } from "../../api/staff-api.d.ts";
import { type Column, PagedTable } from "../../components/data-table.tsx";
import { Code, Time } from "../../components/display.tsx";
import { texts } from "../../texts/index.ts";

const t = texts.refusedCalls;

/** Partners' calls that were refused in the last 30 days. */
export function RefusedCalls({ calls, ofPartner = false }: { calls: Pages<RefusedCall>; ofPartner?: boolean }) {
  return (
    <PagedTable
      label={t.list}
      pages={calls}
      columns={ofPartner ? [AT, ...CALL] : CALL_COLUMNS}
      rowKey={callKey}
      empty={
        <p className="muted">
          {t.emptyTitle}. {t.empty}
        </p>
      }
    />
  );
}

function wordsOf(reason: string, detail: string | null): string {
  const details: Readonly<Record<string, string>> = t.details;
  return details[detail ?? ""] ?? t.reasons[reason] ?? reason;
}

const AT: Column<RefusedCall> = { header: t.at, place: "amount", cell: ({ at }) => <Time of={at} exact /> };
const PARTNER: Column<RefusedCall> = { header: t.partner, cell: ({ partner }) => partner };
const CALL: readonly Column<RefusedCall>[] = [
  { header: t.operation, cell: ({ operation }) => t.operations[operation] ?? operation },
  {
    header: t.reason,
    isWide: true,
    place: "name",
    cell: ({ reason, detail }) => wordsOf(reason, detail),
  },
  { header: t.code, cell: ({ code }) => <span className="number">{code ?? "–"}</span> },
  { header: t.requestId, cell: ({ requestId }) => <Code>{requestId}</Code> },
];

export const CALL_COLUMNS = [AT, PARTNER, ...CALL];

export function callKey({ at, requestId }: RefusedCall): string {
  return `${at} ${requestId}`;
}
