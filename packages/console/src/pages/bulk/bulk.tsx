import { useState } from "react";
import { usePages, useUpload } from "../../api/hooks.ts";
import type { BulkRun } from "../../api/staff-api.d.ts";
import { type Column, PagedTable } from "../../components/data-table.tsx";
import { Badge, Card, Time } from "../../components/display.tsx";
import { useEnvironment } from "../../components/environment.tsx";
import { PageHead } from "../../components/page-head.tsx";
import { EmptyState, Result } from "../../components/states.tsx";
import { formatCount } from "../../format.ts";
import { texts } from "../../texts/index.ts";
import { TONES } from "../../work-states.ts";
import { BulkForm } from "./bulk-form.tsx";
import { BulkState } from "./bulk-run.tsx";

const t = texts.bulk;

/** The form of a bulk change with its preview, and the bulk changes that were started. */
export default function Bulk() {
  const environment = useEnvironment();
  const upload = useUpload("POST /bulk");
  const runs = usePages("GET /bulk", {});
  const [id, setId] = useState<number>();
  return (
    <>
      <PageHead title={texts.shell.pages.bulk} lead={t.lead} />
      <Card title={t.form}>
        <BulkForm
          onChange={() => setId(undefined)}
          onPreview={async (request) => setId((await upload.mutateAsync({ environment, ...request })).id)}
        />
      </Card>
      {id !== undefined && (
        <Result key={id}>
          <BulkState id={id} />
        </Result>
      )}
      <Card title={t.runs}>
        <PagedTable
          pages={runs}
          label={t.runs}
          columns={COLUMNS}
          rowKey={(run) => String(run.id)}
          rowHref={(run) => `/bulk/${run.id}`}
          empty={<EmptyState title={t.noRunsTitle}>{t.noRunsText}</EmptyState>}
        />
      </Card>
    </>
  );
}

const COLUMNS: readonly Column<BulkRun>[] = [
  { header: t.startedAt, cell: ({ startedAt }) => <Time of={startedAt} /> },
  { header: t.author, cell: ({ author }) => author },
  { header: t.action, cell: ({ action }) => t.actions[action] },
  { header: t.reason, isWide: true, cell: ({ reason }) => reason },
  { header: t.environment, cell: (run) => texts.common.environments[run.environment] },
  { header: t.connections, isNumber: true, cell: ({ count }) => formatCount(count) },
  { header: t.state, cell: ({ state }) => <Badge tone={TONES[state]}>{t.states[state]}</Badge> },
];
