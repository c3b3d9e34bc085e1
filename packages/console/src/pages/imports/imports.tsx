import { useLocation } from "wouter";
import { useApi, usePoll, useUpload } from "../../api/hooks.ts";
import { useMay, useMe } from "../../api/session.tsx";
import type { ImportRun } from "../../api/staff-api.d.ts";
import { LinkButton } from "../../components/button.tsx";
import { Checkbox, FileInput, TextInput } from "../../components/controls.tsx";
import { type Column, LoadedTable } from "../../components/data-table.tsx";
import { Badge, Card, Time } from "../../components/display.tsx";
import { useEnvironment } from "../../components/environment.tsx";
import { Field, Form, type FormValues } from "../../components/form.tsx";
import { PageHead } from "../../components/page-head.tsx";
import { EmptyState, Note, Progress } from "../../components/states.tsx";
import { Tabs } from "../../components/tabs.tsx";
import { formatCount } from "../../format.ts";
import { readStored, store } from "../../storage.ts";
import { texts } from "../../texts/index.ts";
import { isUnderWay, TONES } from "../../work-states.ts";
import { HeldBackList } from "./held-back.tsx";
import { AsOf, LAST_UPLOAD } from "./import.tsx";

const t = texts.imports;

export default function Imports() {
  const mayImport = useMay("administer");
  const parts = [
    { id: "list", label: t.list, content: <Runs /> },
    { id: "held-back", label: t.heldBack, content: <HeldBackList /> },
  ];
  const upload = { id: "upload", label: t.upload, content: <CustomersUpload /> };
  return (
    <>
      <PageHead title={texts.shell.pages.imports} lead={t.lead} />
      {mayImport && <LastUpload />}
      <Tabs label={t.parts} tabs={mayImport ? [...parts, upload] : parts} />
    </>
  );
}

/** Links to the last file of this browser until the file is imported. */
function LastUpload() {
  const id = readStored(LAST_UPLOAD);
  const { data } = usePoll("GET /imports/:id", id === null ? null : { id }, ({ state }) => !isUnderWay(state));
  if (data === undefined || data.state === "done" || data.state === "refused") return null;
  return (
    <Note>
      <p>
        {t.underWay} <strong>{data.file}</strong>. {t.states[data.state]}.
      </p>
      <LinkButton href={`/imports/${data.id}`}>{t.open}</LinkButton>
    </Note>
  );
}

function Runs() {
  const runs = useApi("GET /imports");
  return (
    <LoadedTable
      list={runs}
      label={t.list}
      columns={COLUMNS}
      rowKey={({ id }) => String(id)}
      empty={<EmptyState title={t.none}>{t.noneHint}</EmptyState>}
    />
  );
}

const COLUMNS: readonly Column<ImportRun>[] = [
  { header: t.startedAt, cell: ({ startedAt }) => <Time of={startedAt} exact />, sort: (run) => run.startedAt },
  { header: t.file, place: "name", isWide: true, cell: ({ file }) => file, sort: ({ file }) => file },
  { header: t.kind, place: "hidden", cell: ({ kind }) => t.kinds[kind], sort: ({ kind }) => kind },
  {
    header: t.environment,
    place: "hidden",
    cell: ({ environment }) => texts.common.environments[environment],
    sort: ({ environment }) => environment,
  },
  { header: t.author, place: "hidden", cell: ({ author }) => author, sort: ({ author }) => author },
  { header: t.asOf, place: "hidden", cell: ({ asOf }) => (asOf === null ? "–" : <AsOf of={asOf} />) },
  {
    header: t.outcome,
    cell: ({ outcome }) => <Badge tone={TONES[outcome]}>{t.outcomes[outcome]}</Badge>,
    sort: ({ outcome }) => outcome,
  },
  { header: t.result, isWide: true, cell: resultOf },
];

function resultOf({ outcome, report, problem }: ImportRun) {
  if (outcome === "refused") return t.changedNothing(problem ?? t.nothing);
  return report === null ? problem : countsOf(report);
}

function countsOf(report: NonNullable<ImportRun["report"]>): string {
  const parts = Object.entries(t.counts).flatMap(([name, what]) => {
    const count = report[name];
    return typeof count === "number" && count > 0 ? `${formatCount(count)} ${what}` : [];
  });
  return parts.join(", ") || t.nothing;
}

/** Sends a customers file to be checked, and goes to its page. */
function CustomersUpload() {
  const environment = useEnvironment();
  const { timeZone } = useMe().provider;
  const upload = useUpload("POST /imports");
  const [, navigate] = useLocation();

  const submit = async (values: FormValues) => {
    const file = values.file("file");
    if (file === undefined) return;
    const tolerance = values.optional("toleranceDays");
    const { id } = await upload.mutateAsync({
      file,
      environment,
      asOf: values.optional("asOf"),
      skipInvalid: values.checked("skipInvalid") || undefined,
      oldRecords: values.checked("oldRecords") || undefined,
      toleranceDays: tolerance === undefined ? undefined : Number(tolerance),
      run: values.checked("run") || undefined,
    });
    store(LAST_UPLOAD, id);
    navigate(`/imports/${id}`);
  };

  return (
    <Card>
      <Form submit={t.check} onSubmit={submit}>
        <Field name="file" label={t.customersFile} hint={t.customersFileHint}>
          <FileInput required accept=".csv,.ndjson,.jsonl,.json" />
        </Field>
        <Field name="asOf" label={t.asOf} hint={t.asOfHint(timeZone)}>
          <TextInput maxLength={64} />
        </Field>
        <details>
          <summary>{t.options}</summary>
          <div className="stack">
            <Checkbox name="skipInvalid" label={t.skipInvalid} hint={t.skipInvalidHint} />
            <Checkbox name="oldRecords" label={t.oldRecords} />
            <Checkbox name="run" label={t.runAtOnce} />
            <Field name="toleranceDays" label={t.toleranceDays} hint={t.toleranceHint}>
              <TextInput type="number" min={1} max={31} placeholder="1" />
            </Field>
          </div>
        </details>
        {upload.isPending && <Progress label={t.sending} done={upload.progress} />}
        <p className="muted">{t.checkHint}</p>
      </Form>
    </Card>
  );
}
