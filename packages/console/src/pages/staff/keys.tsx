import { useMemo, useState } from "react";
import { useApi, useSend } from "../../api/hooks.ts";
import type { Role } from "../../api/request.ts";
import type { StaffKey } from "../../api/staff-api.d.ts";
import { Button } from "../../components/button.tsx";
import { OwnPasswordField, ownPassword, TextInput } from "../../components/controls.tsx";
import { type Column, LoadedTable } from "../../components/data-table.tsx";
import { ActionDialog } from "../../components/dialog.tsx";
import { Card, Time } from "../../components/display.tsx";
import { Field } from "../../components/form.tsx";
import { EmptyState } from "../../components/states.tsx";
import { texts } from "../../texts/index.ts";
import { RoleField } from "./people.tsx";

const t = texts.staff;

/** API keys of systems. */
export function Keys() {
  const keys = useApi("GET /staff-keys");
  const [adding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<string>();
  const columns = useMemo(() => columnsFor(setRemoving), []);
  return (
    <Card title={t.keys} actions={<Button onClick={() => setAdding(true)}>{t.addKey}</Button>}>
      <p className="muted">{t.keysLead}</p>
      <LoadedTable
        list={keys}
        label={t.keys}
        columns={columns}
        rowKey={({ name }) => name}
        empty={<EmptyState title={t.keysEmptyTitle}>{t.keysEmpty}</EmptyState>}
      />
      {adding && <AddKey onClose={() => setAdding(false)} />}
      {removing !== undefined && <RemoveKey name={removing} onClose={() => setRemoving(undefined)} />}
    </Card>
  );
}

function columnsFor(onRemove: (name: string) => void): readonly Column<StaffKey>[] {
  return [
    { header: t.name, cell: ({ name }) => name, sort: ({ name }) => name },
    { header: t.role, cell: ({ role }) => (role === null ? t.keyAllowsNothing : texts.common.roles[role]) },
    { header: t.madeBy, cell: ({ madeBy }) => madeBy ?? t.madeInShell },
    { header: t.added, cell: ({ createdAt }) => <Time of={createdAt} exact /> },
    { header: t.lastUsed, cell: ({ lastUsedAt }) => <Time of={lastUsedAt} age none={t.never} /> },
    {
      header: texts.common.actions,
      hideHeader: true,
      place: "amount",
      isNumber: true,
      cell: ({ name }) => (
        <Button kind="quiet" aria-label={t.keyRemoveTitle(name)} onClick={() => onRemove(name)}>
          {t.remove}
        </Button>
      ),
    },
  ];
}

function AddKey({ onClose }: { onClose: () => void }) {
  const send = useSend("POST /staff-keys");
  return (
    <ActionDialog
      title={t.addKey}
      description={t.addKeyText}
      submit={t.addKey}
      onSubmit={async (values) => {
        const [name, role] = [values.text("name"), values.text("role") as Role];
        const { key } = await send.mutateAsync({ name, role, ...ownPassword(values) });
        const secret = { title: t.keyTitle(name), description: t.keyLead, label: t.key, value: key };
        return { toast: t.keyAdded(name), secret };
      }}
      onClose={onClose}
    >
      <Field name="name" label={t.name} hint={t.keyNameHint}>
        <TextInput required maxLength={64} autoCapitalize="none" />
      </Field>
      <RoleField />
      <OwnPasswordField />
    </ActionDialog>
  );
}

function RemoveKey({ name, onClose }: { name: string; onClose: () => void }) {
  const send = useSend("DELETE /staff-keys/:name");
  return (
    <ActionDialog
      title={t.keyRemoveTitle(name)}
      description={t.keyRemoveText}
      submit={t.remove}
      danger
      onSubmit={async (values) => {
        await send.mutateAsync({ name, ...ownPassword(values) });
        return { toast: t.keyRemoved(name) };
      }}
      onClose={onClose}
    >
      <OwnPasswordField />
    </ActionDialog>
  );
}
