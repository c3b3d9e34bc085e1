import { useState } from "react";
import { ask } from "../../api/client.ts";
import { usePoll, useSend } from "../../api/hooks.ts";
import type { BulkPreview, BulkRun } from "../../api/staff-api.d.ts";
import { Button, LinkButton } from "../../components/button.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Badge, Card } from "../../components/display.tsx";
import { Loaded, Note, Progress } from "../../components/states.tsx";
import { countOf, formatCount } from "../../format.ts";
import { useEnvironment } from "../../shell/environment.tsx";
import { PageHead } from "../../shell/page-head.tsx";
import { readStored, store } from "../../storage.ts";
import { texts } from "../../texts/index.ts";
import { BulkForm, type BulkRequest } from "./bulk-form.tsx";
import { BulkResult } from "./bulk-result.tsx";

const t = texts.bulk;

/** Session storage key of the last run. */
const LAST_RUN = "bulkRun";

export default function Bulk() {
  const environment = useEnvironment();
  const [previewed, setPreviewed] = useState<{ request: BulkRequest; preview: BulkPreview }>();
  const [runId, setRunId] = useState(() => readStored(LAST_RUN, sessionStorage));
  const keepRun = (id: string | null) => {
    store(LAST_RUN, id, sessionStorage);
    setRunId(id);
  };
  return (
    <>
      <PageHead title={texts.shell.pages.bulk} lead={t.lead} />
      {runId !== null && <RunState key={runId} id={runId} onForget={() => keepRun(null)} />}
      <Card title={t.form}>
        <BulkForm
          onChange={() => setPreviewed(undefined)}
          onPreview={async (request) => {
            const preview = await ask("POST /bulk/preview", { environment, ...request });
            setPreviewed({ request, preview });
          }}
        />
      </Card>
      {previewed !== undefined && (
        <BulkResult
          {...previewed}
          onStarted={({ id }) => {
            keepRun(id);
            setPreviewed(undefined);
          }}
        />
      )}
    </>
  );
}

const TONES = { running: "info", done: "success", failed: "danger", cancelled: "warning" } as const;

/** Progress or outcome of the last bulk change. */
function RunState({ id, onForget }: { id: string; onForget: () => void }) {
  const run = usePoll("GET /bulk/:id", { id }, ({ state }) => state !== "running");
  const isUnknown = run.error?.code === "not_found";
  const isOver = isUnknown || (run.data !== undefined && run.data.state !== "running");
  const cancel = useSend("DELETE /bulk/:id");
  return (
    <Card
      title={t.run}
      actions={
        <>
          {run.data !== undefined && (
            <LinkButton href={`/audit?action=bulk.${run.data.action}`}>{t.toAudit}</LinkButton>
          )}
          {run.data?.state === "running" && (
            <Button kind="quiet" onClick={() => cancel.mutate({ id })}>
              {t.cancel}
            </Button>
          )}
          {isOver && (
            <Button kind="quiet" onClick={onForget}>
              {t.forget}
            </Button>
          )}
        </>
      }
    >
      {isUnknown ? <p>{t.unknownRun}</p> : <Loaded of={run}>{(found) => <Told run={found} />}</Loaded>}
    </Card>
  );
}

function Told({ run: { action, author, state, done, count, failed, problem } }: { run: BulkRun }) {
  return (
    <>
      <p className="row" role="status">
        <Badge tone={TONES[state]}>{t.states[state]}</Badge>
        {t.by(t.actions[action], author)}
      </p>
      <Progress label={t.progress(formatCount(done), countOf(count, "connection"))} share={done / count} />
      {state === "running" && <p className="muted">{t.runLeave}</p>}
      {(state === "failed" || state === "cancelled") && (
        <Note tone={TONES[state]}>
          {problem !== null && <p>{problem}</p>}
          <p>{t.runFailed}</p>
        </Note>
      )}
      {failed.length > 0 && (
        <>
          <h3>{t.failed}</h3>
          <DataTable
            label={t.failed}
            columns={FAILED}
            rows={failed}
            rowKey={({ connection, problem: why }) => `${connection} ${why}`}
          />
        </>
      )}
    </>
  );
}

const FAILED: readonly Column<BulkRun["failed"][number]>[] = [
  { header: t.connection, cell: ({ connection }) => connection },
  { header: t.problem, cell: ({ problem }) => problem },
];
