import { useState } from "react";
import { useSend } from "../../api/hooks.ts";
import { useMay } from "../../api/session.tsx";
import type { Partner } from "../../api/staff-api.d.ts";
import { Button } from "../../components/button.tsx";
import { TextInput } from "../../components/controls.tsx";
import { ActionDialog } from "../../components/dialog.tsx";
import { Card, Fact, KeyValue } from "../../components/display.tsx";
import { Field } from "../../components/form.tsx";
import { texts } from "../../texts/index.ts";

const t = texts.partners;
const LINES = ["legalName", "address", "taxNumber", "contact"] as const;

/** Lines of the partner on printed papers. */
export function Details({ partner }: { partner: Partner }) {
  const [isOpen, setOpen] = useState(false);
  const mayChange = useMay("administer");
  const send = useSend("PATCH /partners/:name");
  return (
    <Card title={t.details} actions={mayChange && <Button onClick={() => setOpen(true)}>{t.detailsEdit}</Button>}>
      <KeyValue>
        {LINES.map((line) => (
          <Fact key={line} label={t.detailNames[line]} value={partner[line]} />
        ))}
      </KeyValue>
      {isOpen && (
        <ActionDialog
          title={t.details}
          description={t.detailsText}
          submit={t.limitsSave}
          onSubmit={async (values) => {
            // Another admin may have changed the others.
            const changed = LINES.filter((line) => values.text(line) !== (partner[line] ?? ""));
            const lines = Object.fromEntries(changed.map((line) => [line, values.text(line)]));
            await send.mutateAsync({ name: partner.name, ...lines });
            return { toast: t.detailsDone };
          }}
          onClose={() => setOpen(false)}
        >
          {LINES.map((line) => (
            <Field key={line} name={line} label={t.detailNames[line]}>
              <TextInput maxLength={200} defaultValue={partner[line] ?? ""} />
            </Field>
          ))}
        </ActionDialog>
      )}
    </Card>
  );
}
