import { useState } from "react";
import { useSend } from "../../api/hooks.ts";
import { useMay } from "../../api/session.tsx";
import type { Customer } from "../../api/staff-api.d.ts";
import { Button } from "../../components/button.tsx";
import { TextArea } from "../../components/controls.tsx";
import { ActionDialog } from "../../components/dialog.tsx";
import { Card, Time } from "../../components/display.tsx";
import { Field } from "../../components/form.tsx";
import { texts } from "../../texts/index.ts";

const t = texts.customers;

/** Notes by staff. */
export function Notes({ customer: { environment, cuid, notes } }: { customer: Customer }) {
  const [isWriting, setWriting] = useState(false);
  const send = useSend("POST /customers/:cuid/notes");
  const may = useMay("correct");
  return (
    <Card title={t.notes} actions={may && <Button onClick={() => setWriting(true)}>{t.writeNote}</Button>}>
      {notes.map(({ seq, wall, author, note }) => (
        <p key={seq}>
          <span className="muted">
            <Time of={wall} /> {author}
          </span>{" "}
          {note}
        </p>
      ))}
      {isWriting && (
        <ActionDialog
          title={t.writeNote}
          description={t.writeNoteText}
          submit={t.writeNote}
          onClose={() => setWriting(false)}
          onSubmit={async (values) => {
            await send.mutateAsync({ environment, cuid, note: values.text("note").replace(/\s+/g, " ") });
            return {};
          }}
        >
          <Field name="note" label={t.note}>
            <TextArea required maxLength={500} />
          </Field>
        </ActionDialog>
      )}
    </Card>
  );
}
