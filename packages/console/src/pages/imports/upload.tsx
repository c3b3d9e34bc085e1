import { useLocation } from "wouter";
import { useUpload } from "../../api/hooks.ts";
import { useMe } from "../../api/session.tsx";
import { Checkbox, FileInput, TextInput } from "../../components/controls.tsx";
import { Card } from "../../components/display.tsx";
import { Field, Form, type FormValues } from "../../components/form.tsx";
import { Progress } from "../../components/states.tsx";
import { useEnvironment } from "../../shell/environment.tsx";
import { store } from "../../storage.ts";
import { texts } from "../../texts/index.ts";
import { LAST_UPLOAD } from "./progress.tsx";

const t = texts.imports;

/** Sends a customers file to be checked, and goes to its page. */
export function CustomersUpload() {
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
        {upload.isPending && <Progress label={t.sending} share={upload.progress} />}
        <p className="muted">{t.checkHint}</p>
      </Form>
    </Card>
  );
}
