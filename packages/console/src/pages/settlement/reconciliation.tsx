import { useState } from "react";
import { useUpload } from "../../api/hooks.ts";
import { asInput } from "../../api/request.ts";
import type { Reconciliation as ReconciliationData } from "../../api/staff-api.d.ts";
import { FileInput, Select, TextInput } from "../../components/controls.tsx";
import { Card, Grid } from "../../components/display.tsx";
import { useEnvironment } from "../../components/environment.tsx";
import { usePartnerOptions } from "../../components/filters.tsx";
import { Field, Form, type FormValues } from "../../components/form.tsx";
import { PageHead } from "../../components/page-head.tsx";
import { Progress, Result } from "../../components/states.tsx";
import { texts } from "../../texts/index.ts";
import { PeriodFields, periodInput } from "./period.tsx";
import { ReconciliationResult } from "./result.tsx";

const t = texts.settlement;

interface Compared {
  readonly title: string;
  readonly found: ReconciliationData;
}

/** Compares a partner's list of top-ups with the records. */
export default function Reconciliation() {
  const environment = useEnvironment();
  const partners = usePartnerOptions();
  const upload = useUpload("POST /reconciliations");
  const [compared, setCompared] = useState<Compared>();

  const submit = async (values: FormValues) => {
    const file = values.file("file");
    if (file === undefined) return;
    setCompared(undefined);
    const partner = values.text("partner");
    const period = { period: values.text("period"), from: values.text("from"), to: values.text("to") };
    const texts = Object.fromEntries(OPTIONAL.map((name) => [name, values.optional(name)]));
    const given = asInput("POST /reconciliations", texts as Record<(typeof OPTIONAL)[number], string | undefined>);
    const found = await upload.mutateAsync({ file, environment, partner, ...periodInput(period), ...given });
    setCompared({ title: t.resultOf(partner, found.from, found.to), found });
  };

  return (
    <>
      <PageHead title={texts.shell.pages.reconciliation} lead={t.reconciliationLead} />
      <Card>
        <Form submit={t.compare} onSubmit={submit}>
          <Grid>
            <Field name="partner" label={t.partner}>
              <Select required options={partners} any={t.choose} defaultValue="" />
            </Field>
            <PeriodFields />
          </Grid>
          <Field name="file" label={t.theirFile} hint={t.theirFileHint}>
            <FileInput required accept=".csv,.txt" />
          </Field>
          <Columns />
          {upload.isPending && <Progress label={t.sending} done={upload.progress} />}
        </Form>
      </Card>
      {compared !== undefined && (
        <Result>
          <ReconciliationResult {...compared} />
        </Result>
      )}
    </>
  );
}

const WORDS = [
  ["successValues", t.successUsual],
  ["reversedValues", t.reversedUsual],
  ["failedValues", t.failedUsual],
] as const;
const OPTIONAL = [
  "key",
  "keyColumn",
  "amountColumn",
  "statusColumn",
  "delimiter",
  "successValues",
  "reversedValues",
  "failedValues",
] as const;

/** Fields that describe the columns and words of the file. */
function Columns() {
  return (
    <>
      <Grid>
        <Field name="key" label={t.key} hint={t.keysHint}>
          <Select options={Object.entries(t.keys)} />
        </Field>
        <Field name="keyColumn" label={t.keyColumn}>
          <TextInput placeholder={t.asNamed} maxLength={200} />
        </Field>
        <Field name="amountColumn" label={t.amountColumn}>
          <TextInput placeholder="amount" maxLength={200} />
        </Field>
        <Field name="statusColumn" label={t.statusColumn} hint={t.statusColumnHint}>
          <TextInput placeholder={t.noColumn} maxLength={200} />
        </Field>
        <Field name="delimiter" label={t.delimiter}>
          <Select options={Object.entries(t.delimiters)} />
        </Field>
      </Grid>
      <details>
        <summary>{t.words}</summary>
        <div className="stack">
          <p className="muted">{t.wordsHint}</p>
          <Grid>
            {WORDS.map(([name, usual]) => (
              <Field key={name} name={name} label={t[name]}>
                <TextInput placeholder={usual} maxLength={500} />
              </Field>
            ))}
          </Grid>
        </div>
      </details>
    </>
  );
}
