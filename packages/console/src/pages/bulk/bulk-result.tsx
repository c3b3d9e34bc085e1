import { useState } from "react";
import { useSend } from "../../api/hooks.ts";
import type { BulkPreview, BulkRun } from "../../api/staff-api.d.ts";
import { Button } from "../../components/button.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { ActionDialog } from "../../components/dialog.tsx";
import { Badge, Card, Grid, Stat, Time } from "../../components/display.tsx";
import { EmptyState, Note, Result } from "../../components/states.tsx";
import { countOf, formatCount } from "../../format.ts";
import { customerHref } from "../../links.ts";
import { useEnvironment } from "../../shell/environment.tsx";
import { texts } from "../../texts/index.ts";
import { connectionName } from "../customers/connection-badge.tsx";
import type { BulkRequest } from "./bulk-form.tsx";

const t = texts.bulk;

type BulkEffect = BulkPreview["effects"][number];

interface BulkResultProps {
  readonly request: BulkRequest;
  readonly preview: BulkPreview;
  readonly onStarted: (run: BulkRun) => void;
}

/** Preview of a bulk change, with the button that starts it. */
export function BulkResult({ request, preview, onStarted }: BulkResultProps) {
  const environment = useEnvironment();
  const send = useSend("POST /bulk");
  const [isAsking, setAsking] = useState(false);
  const { effects, count, problems, problemCount } = preview;
  const { action, days = 0 } = request;
  const repeated = effects.filter((effect) => effect.repeated).length;
  const confirm = t.confirm[action](countOf(days, "day"), countOf(count, "connection"));
  return (
    <Result>
      <Card
        title={t.result}
        actions={
          count > 0 && (
            <Button kind={action === "block" ? "danger" : "primary"} onClick={() => setAsking(true)}>
              {confirm}
            </Button>
          )
        }
      >
        <Grid>
          <Stat label={t.count} value={formatCount(count)} />
          <Stat label={t.unclear} value={formatCount(problemCount)} />
          {action === "goodwill" && request.skipRepeated !== true && (
            <Stat label={t.repeated} value={formatCount(repeated)} />
          )}
        </Grid>
        {repeated > 0 && <Note tone="warning">{t.repeatedNote}</Note>}
        {count > effects.length && <p className="muted">{t.firstThousand(formatCount(count))}</p>}
        <DataTable
          label={t.effects}
          columns={action === "goodwill" ? [...WHOM, ...ENDS] : WHOM}
          rows={effects}
          rowKey={({ cuid, service, reqId }) => `${cuid} ${service} ${reqId}`}
          rowHref={customerHref}
          empty={<EmptyState title={t.nothingTitle}>{t.nothingText}</EmptyState>}
        />
      </Card>
      {problems.length > 0 && (
        <Card title={t.problems}>
          {problemCount > problems.length && <p className="muted">{t.firstThousand(formatCount(problemCount))}</p>}
          <DataTable
            label={t.problems}
            columns={PROBLEMS}
            rows={problems}
            rowKey={({ line, problem }) => `${line} ${problem}`}
          />
        </Card>
      )}
      {isAsking && (
        <ActionDialog
          title={confirm}
          description={t.confirmText}
          submit={confirm}
          danger={action === "block"}
          onSubmit={async () => {
            onStarted(await send.mutateAsync({ environment, ...request }));
            return {};
          }}
          onClose={() => setAsking(false)}
        >
          {repeated > 0 && <Note tone="warning">{t.repeatedNote}</Note>}
        </ActionDialog>
      )}
    </Result>
  );
}

const WHOM: readonly Column<BulkEffect>[] = [
  { header: t.customer, cell: ({ cuid }) => cuid, sort: ({ cuid }) => cuid },
  { header: t.connection, cell: (effect) => connectionName(effect) },
];

const ENDS: readonly Column<BulkEffect>[] = [
  { header: t.subscription, cell: ({ after, plan }) => after?.name ?? plan ?? "–" },
  {
    header: t.before,
    cell: ({ before }) => <Time of={before?.end ?? null} />,
    sort: ({ before }) => before?.end ?? "",
  },
  { header: t.after, cell: ({ after }) => <Time of={after?.end ?? null} />, sort: ({ after }) => after?.end ?? "" },
  {
    header: t.note,
    cell: ({ repeated }) => repeated && <Badge tone="warning">{t.repeatedBadge}</Badge>,
    sort: ({ repeated }) => (repeated ? 0 : 1),
  },
];

const PROBLEMS: readonly Column<BulkPreview["problems"][number]>[] = [
  { header: t.line, cell: ({ line }) => line },
  { header: t.problem, cell: ({ problem }) => problem },
];
