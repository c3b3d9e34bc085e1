import { useState } from "react";
import { ask } from "../../api/client.ts";
import type { BulkPreview } from "../../api/staff-api.d.ts";
import { Card } from "../../components/display.tsx";
import { useEnvironment } from "../../shell/environment.tsx";
import { PageHead } from "../../shell/page-head.tsx";
import { readStored, store } from "../../storage.ts";
import { texts } from "../../texts/index.ts";
import { BulkForm, type BulkRequest } from "./bulk-form.tsx";
import { BulkResult } from "./bulk-result.tsx";
import { RunState } from "./run-state.tsx";

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
