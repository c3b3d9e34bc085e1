import { useState } from "react";
import { useSend } from "../../api/hooks.ts";
import { useMay } from "../../api/session.tsx";
import type { Partner } from "../../api/staff-api.d.ts";
import { Button } from "../../components/button.tsx";
import { TextArea } from "../../components/controls.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Card, Code } from "../../components/display.tsx";
import { Field, Form, type FormValues } from "../../components/form.tsx";
import { useToast } from "../../shell/toasts.tsx";
import { texts } from "../../texts/index.ts";

const t = texts.partners;

/** IP addresses that a partner may call from. */
export function AllowedAddresses({ partner: { name, allowedAddresses } }: { partner: Partner }) {
  const [isOpen, setOpen] = useState(false);
  const mayChange = useMay("administer");
  const send = useSend("PATCH /partners/:name");
  const toast = useToast();

  const save = async (values: FormValues) => {
    const lines = values.text("allowedAddresses").split(/[\s,]+/);
    const given = lines.filter((line) => line !== "");
    await send.mutateAsync({ name, allowedAddresses: given.length === 0 ? null : given });
    toast(t.addressesDone(given.length));
    setOpen(false);
  };

  return (
    <Card
      title={t.addressesTitle}
      actions={mayChange && <Button onClick={() => setOpen(true)}>{t.addressesEdit}</Button>}
    >
      {allowedAddresses === null ? (
        <p>{t.anywhere}</p>
      ) : (
        <ul aria-label={t.addressesTitle}>
          {allowedAddresses.map((address) => (
            <li key={address}>
              <Code>{address}</Code>
            </li>
          ))}
        </ul>
      )}
      <Dialog open={isOpen} onOpenChange={setOpen} title={t.addressesTitle} description={t.addressesText}>
        <Form submit={t.addressesSave} onSubmit={save}>
          <Field name="allowedAddresses" label={t.addressesTitle} hint={t.addressesHint}>
            <TextArea rows={6} defaultValue={allowedAddresses?.join("\n")} spellCheck={false} />
          </Field>
        </Form>
      </Dialog>
    </Card>
  );
}
