import { useMemo, useState } from "react";
import { useApi, useSend } from "../../api/hooks.ts";
import type { Role } from "../../api/names.ts";
import type { AddedStaffKey, StaffKey } from "../../api/staff-api.d.ts";
import { Button } from "../../components/button.tsx";
import { OwnPasswordField, ownPassword, TextInput } from "../../components/controls.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { ConfirmDialog, Dialog } from "../../components/dialog.tsx";
import { Card, Time } from "../../components/display.tsx";
import { Field, Form, type FormValues } from "../../components/form.tsx";
import { OnceDialog } from "../../components/once-dialog.tsx";
import { EmptyState, Loaded } from "../../components/states.tsx";
import { useToast } from "../../shell/toasts.tsx";
import { texts } from "../../texts/index.ts";
import { RoleField } from "./people.tsx";

const t = texts.staff;

/** The keys of systems. */
export function Keys() {
  const keys = useApi("GET /staff-keys");
  const send = useSend("DELETE /staff-keys/:name");
  const toast = useToast();
  const [adding, setAdding] = useState(false);
  const [added, setAdded] = useState<AddedStaffKey>();
  const [removing, setRemoving] = useState<string>();
  const columns = useMemo(() => columnsFor(setRemoving), []);
  const remove = async (name: string, values: FormValues) => {
    await send.mutateAsync({ name, ...ownPassword(values) });
    toast(t.keyRemoved(name));
  };
  return (
    <Card title={t.keys} actions={<Button onClick={() => setAdding(true)}>{t.addKey}</Button>}>
      <p className="muted">{t.keysLead}</p>
      <Loaded of={keys}>
        {({ items }) => (
          <DataTable
            label={t.keys}
            columns={columns}
            rows={items}
            rowKey={({ name }) => name}
            empty={<EmptyState title={t.keysEmptyTitle}>{t.keysEmpty}</EmptyState>}
          />
        )}
      </Loaded>
      <AddKey open={adding} onOpenChange={setAdding} onAdded={setAdded} />
      {added && (
        <OnceDialog
          title={t.keyTitle(added.name)}
          description={t.keyLead}
          label={t.key}
          value={added.key}
          onClose={() => setAdded(undefined)}
        />
      )}
      <ConfirmDialog
        open={removing !== undefined}
        onOpenChange={() => setRemoving(undefined)}
        title={t.keyRemoveTitle(removing ?? "")}
        description={t.keyRemoveText}
        confirm={t.remove}
        danger
        onConfirm={(_, values) => remove(removing ?? "", values)}
      >
        <OwnPasswordField />
      </ConfirmDialog>
    </Card>
  );
}

function columnsFor(onRemove: (name: string) => void): readonly Column<StaffKey>[] {
  return [
    { id: "name", header: t.name, cell: ({ name }) => name, sort: ({ name }) => name },
    { id: "role", header: t.role, cell: ({ role }) => texts.common.roles[role] },
    { id: "created", header: t.added, cell: ({ createdAt }) => <Time of={createdAt} /> },
    {
      ...{ id: "lastUsed", header: t.lastUsed },
      cell: ({ lastUsedAt }) => (lastUsedAt === null ? t.never : <Time of={lastUsedAt} age />),
    },
    {
      ...{ id: "actions", header: texts.common.actions, hideHeader: true, isNumber: true },
      cell: ({ name }) => (
        <Button kind="quiet" aria-label={t.keyRemoveTitle(name)} onClick={() => onRemove(name)}>
          {t.remove}
        </Button>
      ),
    },
  ];
}

interface AddKeyProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly onAdded: (key: AddedStaffKey) => void;
}

function AddKey({ open, onOpenChange, onAdded }: AddKeyProps) {
  const send = useSend("POST /staff-keys");
  const toast = useToast();
  const submit = async (values: FormValues) => {
    const [name, role] = [values.text("name"), values.text("role") as Role];
    const key = await send.mutateAsync({ name, role, ...ownPassword(values) });
    onOpenChange(false);
    toast(t.keyAdded(key.name));
    onAdded(key);
  };
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title={t.addKey} description={t.addKeyText}>
      <Form submit={t.addKey} onSubmit={submit}>
        <Field name="name" label={t.name} hint={t.keyNameHint}>
          <TextInput required maxLength={64} autoCapitalize="none" />
        </Field>
        <RoleField />
        <OwnPasswordField />
      </Form>
    </Dialog>
  );
}
