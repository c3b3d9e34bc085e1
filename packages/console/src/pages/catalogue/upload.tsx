import { useState } from "react";
import { useLocation } from "wouter";
import { useUpload } from "../../api/hooks.ts";
import type { CatalogueChange } from "../../api/staff-api.d.ts";
import { Button } from "../../components/button.tsx";
import { FileInput } from "../../components/controls.tsx";
import { ActionDialog } from "../../components/dialog.tsx";
import { Card, Grid, Stat } from "../../components/display.tsx";
import { useEnvironment } from "../../components/environment.tsx";
import { Field, Form } from "../../components/form.tsx";
import { Note, Progress, Result } from "../../components/states.tsx";
import { formatCount } from "../../format.ts";
import { texts } from "../../texts/index.ts";
import { CatalogueDiff, isSame, LargeChange } from "./diff.tsx";
import { TermsFields, termsOf, useWhyWaits } from "./waiting.tsx";

const t = texts.catalogue;

/** Uploads a catalogue file, shows the changes and publishes them. */
export function CatalogueUpload() {
  const [checked, setChecked] = useState<{ file: File; change: CatalogueChange }>();
  const environment = useEnvironment();
  const check = useUpload("POST /catalogue");
  const whyWaits = useWhyWaits();
  return (
    <>
      <Card>
        <Form
          submit={t.check}
          why={whyWaits}
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
          {check.isPending && <Progress label={t.checking} done={check.progress} />}
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
  const { added, changed, removed, unchanged, largeChange } = change;
  const [allowsLarge, setAllowsLarge] = useState(false);
  const same = isSame(change);
  return (
    <Card
      title={t.result}
      actions={!same && <Publish file={file} allowsLarge={allowsLarge} isLarge={largeChange !== null} />}
    >
      {same && <Note tone="success">{t.same}</Note>}
      {!same && (
        <>
          <Grid>
            <Stat label={t.added} value={formatCount(added)} />
            <Stat label={t.changed} value={formatCount(changed)} />
            <Stat label={t.removed} value={formatCount(removed)} />
            <Stat label={t.unchanged} value={formatCount(unchanged)} />
          </Grid>
          <LargeChange change={change} isAllowed={allowsLarge} onAllow={setAllowsLarge} />
          <CatalogueDiff change={change} />
        </>
      )}
    </Card>
  );
}

function Publish({ file, allowsLarge, isLarge }: { file: File; allowsLarge: boolean; isLarge: boolean }) {
  const [isOpen, setOpen] = useState(false);
  const environment = useEnvironment();
  const upload = useUpload("POST /catalogue");
  const [, navigate] = useLocation();
  return (
    <>
      <Button
        kind="primary"
        why={isLarge && !allowsLarge ? texts.common.whyNot.allowLargeChange : undefined}
        onClick={() => setOpen(true)}
      >
        {t.publish}
      </Button>
      {isOpen && (
        <ActionDialog
          title={t.publishTitle}
          description={t.publishText}
          submit={t.publishConfirm}
          onSubmit={async (values) => {
            const allowLargeChange = allowsLarge || undefined;
            const done = await upload.mutateAsync({ file, environment, allowLargeChange, ...termsOf(values) });
            navigate("/catalogue");
            return { toast: t.done(done) };
          }}
          onClose={() => setOpen(false)}
        >
          <TermsFields />
          {upload.isPending && <Progress label={t.checking} done={upload.progress} />}
        </ActionDialog>
      )}
    </>
  );
}
