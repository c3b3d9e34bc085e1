import { useState } from "react";
import { Link } from "wouter";
import { useApi, useSend } from "../../api/hooks.ts";
import type { CurrentCatalogue } from "../../api/staff-api.d.ts";
import { Button } from "../../components/button.tsx";
import { DayInput } from "../../components/controls.tsx";
import { ActionDialog, ReasonField } from "../../components/dialog.tsx";
import { useEnvironment } from "../../components/environment.tsx";
import { Field, type FormValues } from "../../components/form.tsx";
import { Note } from "../../components/states.tsx";
import { texts } from "../../texts/index.ts";

const t = texts.catalogue;

type Waiting = NonNullable<CurrentCatalogue["waiting"]>;

/** Why the catalogue takes no change; undefined if none waits. */
export function useWhyWaits(): string | undefined {
  const { data } = useApi("GET /catalogue", { environment: useEnvironment() });
  return data?.waiting ? t.waits(data.waiting.revision, data.waiting.from) : undefined;
}

/** The change that waits for its day. */
export function WaitingNote({ waiting: { revision, from }, mayPublish }: { waiting: Waiting; mayPublish: boolean }) {
  const [isOpen, setOpen] = useState(false);
  const send = useSend("POST /catalogue/revisions/:revision/withdraw");
  return (
    <Note>
      <Link href={`/catalogue?revision=${revision}`}>{t.comes(revision, from)}</Link>{" "}
      {mayPublish && <Button onClick={() => setOpen(true)}>{t.withdraw}</Button>}
      {isOpen && (
        <ActionDialog
          title={t.withdrawTitle(revision)}
          description={t.withdrawText}
          submit={t.withdrawConfirm}
          danger
          onSubmit={async (values) => {
            await send.mutateAsync({ revision, reason: values.optional("reason") });
            return { toast: t.withdrawn(revision) };
          }}
          onClose={() => setOpen(false)}
        >
          <ReasonField />
        </ActionDialog>
      )}
    </Note>
  );
}

/** The day and the reason of a change. */
export function TermsFields() {
  return (
    <>
      <Field name="from" label={t.from} hint={t.fromHint}>
        <DayInput />
      </Field>
      <ReasonField />
    </>
  );
}

export function termsOf(values: FormValues) {
  return { from: values.optional("from"), reason: values.optional("reason") };
}
