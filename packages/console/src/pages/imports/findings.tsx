import { Link } from "wouter";
import type { ChangedCustomer, HeldBackLine, Upload } from "../../api/types.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Badge, Card, Code, Time } from "../../components/display.tsx";
import { FieldChanges, RejectedLines } from "../../components/file-check.tsx";
import { EmptyState, Note } from "../../components/states.tsx";
import { formatCount } from "../../format.ts";
import { texts } from "../../texts/index.ts";

const t = texts.imports;

/** What a file does, and what is wrong with it: the first thousand of each. */
export function UploadFindings({ upload }: { upload: Upload }) {
  const { state, problems, heldBack, warnings, changes, report } = upload;
  const isRefused = state === "refused";
  return (
    <>
      {problems.length > 0 && (
        <Card title={t.badLines}>
          {!isRefused && (
            <Note tone="warning">{t.leftOut(report?.["rejected"] ?? 0, formatCount(report?.["rejected"] ?? 0))}</Note>
          )}
          <First shown={problems.length} of={report?.["rejected"]} />
          <RejectedLines lines={problems} />
        </Card>
      )}
      {heldBack.length > 0 && (
        <Card title={t.heldBack}>
          <p>
            {state !== "done" && t.heldBackAfter} {t.heldBackTodo}
          </p>
          <First shown={heldBack.length} of={report?.["heldBack"]} />
          <DataTable
            label={t.heldBack}
            columns={[LINE, ...HELD_BACK_COLUMNS]}
            rows={heldBack}
            rowKey={heldBackKey}
            empty={null}
          />
        </Card>
      )}
      {warnings.length > 0 && (
        <Card title={t.warnings}>
          <p>{t.warningsHint}</p>
          <DataTable
            label={t.warnings}
            columns={[LINE, CUSTOMER, CONNECTION]}
            rows={warnings}
            rowKey={({ line, service, reqId }) => `${line} ${service} ${reqId}`}
            empty={null}
          />
        </Card>
      )}
      {!isRefused && state !== "checking" && (
        <Card title={t.changes}>
          <First shown={changes.length} of={(report?.["added"] ?? 0) + (report?.["changed"] ?? 0)} />
          <DataTable
            label={t.changes}
            columns={[LINE, CUSTOMER, ...CHANGE_COLUMNS]}
            rows={changes}
            rowKey={({ line, cuid }) => `${line} ${cuid}`}
            empty={<EmptyState title={t.noChanges}>{t.noChangesHint}</EmptyState>}
          />
        </Card>
      )}
    </>
  );
}

function First({ shown, of = 0 }: { shown: number; of: number | undefined }) {
  return of > shown && <p className="muted">{t.first(formatCount(shown))}</p>;
}

interface OfConnection {
  readonly line: number;
  readonly cuid: string;
  readonly service: HeldBackLine["service"];
  readonly reqId: string;
}

const LINE: Column<{ readonly line: number }> = {
  id: "line",
  header: t.line,
  cell: ({ line }) => formatCount(line),
  sort: ({ line }) => line,
};

const CUSTOMER: Column<{ readonly cuid: string }> = {
  id: "cuid",
  header: t.customer,
  cell: ({ cuid }) => <Link href={`/customers/${encodeURIComponent(cuid)}`}>{cuid}</Link>,
  sort: ({ cuid }) => cuid,
};

const CONNECTION: Column<Pick<OfConnection, "service" | "reqId">> = {
  id: "connection",
  header: t.connection,
  cell: ({ service, reqId }) => (
    <span>
      {texts.common.services[service]} <Code>{reqId}</Code>
    </span>
  ),
};

const CHANGE_COLUMNS: readonly Column<ChangedCustomer>[] = [
  {
    id: "kind",
    header: t.change,
    cell: ({ kind }) => <Badge tone={kind === "added" ? "success" : "info"}>{t[kind]}</Badge>,
    sort: ({ kind }) => kind,
  },
  { id: "values", header: t.values, cell: ({ changes }) => <FieldChanges changes={changes} /> },
];

export const HELD_BACK_COLUMNS: readonly Column<HeldBackLine>[] = [
  CUSTOMER,
  CONNECTION,
  { id: "bouquet", header: t.bouquet, cell: ({ bouquetId }) => <Code>{bouquetId}</Code> },
  { id: "keptEnd", header: t.keptEnd, cell: ({ keptEnd }) => <Time of={keptEnd} /> },
  {
    id: "keptBy",
    header: t.keptBy,
    cell: ({ txnId }) => (txnId === null ? t.goodwill : <Link href={`/transactions/${txnId}`}>{t.topUp}</Link>),
  },
  {
    id: "statedEnd",
    header: t.statedEnd,
    cell: ({ statedEnd }) => (statedEnd === null ? t.notInFile : <Time of={statedEnd} />),
  },
];

export function heldBackKey({ line, service, reqId, plan }: HeldBackLine): string {
  return `${line} ${service} ${reqId} ${plan}`;
}
