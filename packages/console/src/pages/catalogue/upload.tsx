import { useState } from "react";
import { useLocation } from "wouter";
import { useUpload } from "../../api/hooks.ts";
import type { CatalogueChange } from "../../api/staff-api.d.ts";
import { Button } from "../../components/button.tsx";
import { Checkbox, FileInput } from "../../components/controls.tsx";
import { type Column, LongTable } from "../../components/data-table.tsx";
import { ActionDialog } from "../../components/dialog.tsx";
import { Badge, Card, Code, Grid, Stat } from "../../components/display.tsx";
import { FieldChanges } from "../../components/file-check.tsx";
import { Field, Form } from "../../components/form.tsx";
import { Note, Progress, Result } from "../../components/states.tsx";
import { formatCount } from "../../format.ts";
import { useEnvironment } from "../../shell/environment.tsx";
import { texts } from "../../texts/index.ts";

const t = texts.catalogue;

/** Uploads a catalogue file, shows the changes and publishes them. */
export function CatalogueUpload() {
  const [checked, setChecked] = useState<{ file: File; change: CatalogueChange }>();
  const environment = useEnvironment();
  const check = useUpload("POST /catalogue");
  return (
    <>
      <Card>
        <Form
          submit={t.check}
          onChange={() => setChecked(undefined)}
          onSubmit={async (values) => {
            const file = values.file("file");
            if (file === undefined) return;
            setChecked(undefined);
            // The preview shows a large change; publishing asks about it.
            const asked = { environment, preview: true, allowLargeChange: true };
            setChecked({ file, change: await check.mutateAsync({ file, ...asked }) });
          }}
        >
          <Field name="file" label={t.file} hint={t.fileHint}>
            <FileInput required accept=".csv,.ndjson,.jsonl,.json" />
          </Field>
          {check.isPending && <Progress label={t.checking} share={check.progress} />}
          {checked === undefined && <p className="muted">{t.checkHint}</p>}
        </Form>
      </Card>
      {checked !== undefined && (
        <Result>
          <Diff {...checked} />
        </Result>
      )}
    </>
  );
}

function Diff({ file, change }: { file: File; change: CatalogueChange }) {
  const { added, changed, removed, unchanged, reorders, bouquets, largeChange } = change;
  const [allowsLarge, setAllowsLarge] = useState(false);
  const isSame = added + changed + removed === 0 && !reorders;
  return (
    <Card
      title={t.result}
      actions={
        !isSame && <Publish file={file} allowsLarge={allowsLarge} disabled={largeChange !== null && !allowsLarge} />
      }
    >
      {isSame && <Note tone="success">{t.same}</Note>}
      {!isSame && (
        <>
          <Grid>
            <Stat label={t.added} value={formatCount(added)} />
            <Stat label={t.changed} value={formatCount(changed)} />
            <Stat label={t.removed} value={formatCount(removed)} />
            <Stat label={t.unchanged} value={formatCount(unchanged)} />
          </Grid>
          {largeChange !== null && (
            <Note tone="warning">
              <p>{t.large(largeChange.count, largeChange.of)}</p>
              <Checkbox
                name="allowLargeChange"
                label={t.allowLarge}
                checked={allowsLarge}
                onChange={({ target }) => setAllowsLarge(target.checked)}
              />
            </Note>
          )}
          {bouquets.map((bouquet) => (
            <Reach key={`${bouquet.service} ${bouquet.code}`} bouquet={bouquet} />
          ))}
          {reorders && <Note>{t.reorders}</Note>}
          <LongTable
            label={t.result}
            columns={COLUMNS}
            rows={bouquets}
            rowKey={({ service, code }) => `${service} ${code}`}
          />
        </>
      )}
    </Card>
  );
}

type ChangedBouquet = CatalogueChange["bouquets"][number];

/** A change of plan or kind also affects earlier purchases. */
function Reach({ bouquet: { kind, code, fields } }: { bouquet: ChangedBouquet }) {
  if (kind !== "changed") return null;
  const plan = fields.find(({ field }) => field === "plan");
  if (plan !== undefined) return <Note tone="warning">{t.reach(code, t.reachPlan(plan.from ?? ""))}</Note>;
  if (!fields.some(({ field }) => field === "add-on")) return null;
  return <Note tone="warning">{t.reach(code, t.reachAddOn)}</Note>;
}

const TONES = { added: "success", changed: "info", removed: "danger" } as const;

const COLUMNS: readonly Column<ChangedBouquet>[] = [
  { header: t.kind, cell: ({ kind }) => <Badge tone={TONES[kind]}>{t[kind]}</Badge> },
  { header: t.service, cell: ({ service }) => texts.common.services[service] },
  { header: t.code, cell: ({ code }) => <Code>{code}</Code> },
  { header: t.changes, cell: ({ fields }) => <FieldChanges changes={fields} /> },
];

function Publish({ file, allowsLarge, disabled }: { file: File; allowsLarge: boolean; disabled: boolean }) {
  const [isOpen, setOpen] = useState(false);
  const environment = useEnvironment();
  const upload = useUpload("POST /catalogue");
  const [, navigate] = useLocation();
  return (
    <>
      <Button kind="primary" disabled={disabled} onClick={() => setOpen(true)}>
        {t.publish}
      </Button>
      {isOpen && (
        <ActionDialog
          title={t.publishTitle}
          description={t.publishText}
          submit={t.publishConfirm}
          onSubmit={async () => {
            const allowLargeChange = allowsLarge || undefined;
            const { revision } = await upload.mutateAsync({ file, environment, allowLargeChange });
            navigate("/catalogue");
            return { toast: t.done(revision) };
          }}
          onClose={() => setOpen(false)}
        >
          {upload.isPending && <Progress label={t.checking} share={upload.progress} />}
        </ActionDialog>
      )}
    </>
  );
}
