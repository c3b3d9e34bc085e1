import { useEffect } from "react";
import { usePoll, useSend } from "../../api/hooks.ts";
import { asInput } from "../../api/request.ts";
import { useMay } from "../../api/session.tsx";
import type { Upload } from "../../api/staff-api.d.ts";
import { LinkButton } from "../../components/button.tsx";
import { Checkbox } from "../../components/controls.tsx";
import { Badge, Card, Fact, Grid, KeyValue, Stat, Time } from "../../components/display.tsx";
import { Form } from "../../components/form.tsx";
import { PageHead } from "../../components/page-head.tsx";
import { Loaded, Note, Progress } from "../../components/states.tsx";
import { useToast } from "../../components/toasts.tsx";
import { formatCount, isTime } from "../../format.ts";
import type { PageProps } from "../../page-props.ts";
import { readStored, store } from "../../storage.ts";
import { texts } from "../../texts/index.ts";
import { isUnderWay, TONES } from "../../work-states.ts";
import { GoodwillQuestion, UploadFindings } from "./findings.tsx";

const t = texts.imports;

/** An uploaded customers file: preview, import and result. */
export default function Import({ params: { id = "" } }: PageProps) {
  const upload = usePoll("GET /imports/:id", { id }, ({ state }) => !isUnderWay(state));
  const { data, error } = upload;
  const isOver = error?.status === 404 || data?.state === "done" || data?.state === "refused";
  useEffect(() => {
    if (isOver && readStored(LAST_UPLOAD) === id) store(LAST_UPLOAD, null);
  }, [isOver, id]);
  return (
    <>
      <PageHead
        title={data?.file ?? texts.shell.pages.import}
        up={{ href: "/imports", title: texts.shell.pages.imports }}
      />
      <Loaded of={upload}>{(found) => <Shown upload={found} />}</Loaded>
    </>
  );
}

function Shown({ upload }: { upload: Upload }) {
  const { state, asOf, environment, author, report, problem, advice } = upload;
  const count = (name: string) => formatCount(report?.[name] ?? 0);
  return (
    <>
      {advice !== null && <Note tone="danger">{advice}</Note>}
      <Card>
        <KeyValue>
          <Fact label={t.outcome} value={<Badge tone={TONES[state]}>{t.states[state]}</Badge>} />
          <Fact label={t.asOf} value={asOf === null ? t.noAsOf : <AsOf of={asOf} />} />
          <Fact label={t.environment} value={texts.common.environments[environment]} />
          <Fact label={t.author} value={author} />
        </KeyValue>
      </Card>
      {isUnderWay(state) && <UploadProgress upload={upload} />}
      {state === "done" && <Note tone="success">{t.doneNote}</Note>}
      {state === "refused" && <Note tone="danger">{t.refused(problem ?? "")}</Note>}
      {state === "failed" && <Note tone="danger">{t.failed(problem ?? "")}</Note>}
      {state === "checked" && problem !== null && <Note tone="danger">{problem}</Note>}
      {!isUnderWay(state) && <Next upload={upload} />}
      {report !== null && (
        <Grid>
          <Stat label={t.added} value={count("added")} />
          <Stat label={t.changed} value={count("changed")} />
          <Stat label={t.unchanged} value={count("unchanged")} />
          <Stat label={t.heldBack} value={count("heldBack")} />
          <Stat label={t.endsRunning} value={count("endsRunning")} />
          {(report["rejected"] ?? 0) > 0 && <Stat label={t.rejected} value={count("rejected")} />}
          {(["mobilePlaceholders", "mobilesUnreadable"] as const)
            .filter((name) => (report[name] ?? 0) > 0)
            .map((name) => (
              <Stat key={name} label={t[name]} value={count(name)} />
            ))}
          {(report["stale"] ?? 0) > 0 && <Stat label={t.stale} value={count("stale")} note={t.staleNote} />}
        </Grid>
      )}
      <UploadFindings upload={upload} />
    </>
  );
}

/** Next actions of an import. */
function Next({ upload: { id, state, report, largeChanges } }: { upload: Upload }) {
  const mayImport = useMay("administer");
  const send = useSend("POST /imports/:id/run");
  const toast = useToast();
  const another = <LinkButton href="/imports?tab=upload">{t.another}</LinkButton>;
  const unclear = report?.["goodwillUnclear"] ?? 0;
  const isImportable = state === "checked" || state === "failed";
  if (!mayImport) return null;
  if (!isImportable) {
    return (
      <div className="row">
        {state === "done" && (report?.["heldBack"] ?? 0) > 0 && (
          <LinkButton kind="primary" href="/imports?tab=held-back">
            {t.toHeldBack}
          </LinkButton>
        )}
        {another}
      </div>
    );
  }
  return (
    <Card>
      <Form
        submit={state === "failed" ? t.importAgain : t.importNow}
        actions={another}
        onSubmit={async (values) => {
          const goodwill = asInput("POST /imports/:id/run", { goodwill: values.optional("goodwill") });
          await send.mutateAsync({ id, allowLargeChange: values.checked("allowLargeChange"), ...goodwill });
          toast(t.started);
        }}
      >
        {largeChanges.length > 0 ? (
          <Note tone="warning">
            <p className="strong">{t.largeTitle}</p>
            <ul>
              {largeChanges.map(({ what, count, of }) => (
                <li key={what}>{t.large[what](formatCount(count), formatCount(of))}</li>
              ))}
            </ul>
            <Checkbox name="allowLargeChange" label={t.allowLarge} required />
          </Note>
        ) : (
          <p>{t.atOnce}</p>
        )}
        {unclear > 0 && <GoodwillQuestion count={unclear} />}
      </Form>
    </Card>
  );
}

/** Storage key of the last sent file. */
export const LAST_UPLOAD = "lastUpload";

/** Progress of the check or the import. */
function UploadProgress({ upload: { state, lines, allLines } }: { upload: Upload }) {
  return (
    <Note>
      {state === "running" && allLines > 0 ? (
        <Progress label={t.writing} done={lines} of={allLines} />
      ) : (
        <p role="status">{t.checking(formatCount(lines))}</p>
      )}
      <p>{t.canLeave}</p>
    </Note>
  );
}

/** Shows an `as of` as given: UTC instant or provider's wall time. */
export function AsOf({ of }: { of: string }) {
  return isTime(of) ? <Time of={of} exact /> : of;
}
