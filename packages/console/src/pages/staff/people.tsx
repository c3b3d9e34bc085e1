import { useMemo, useState } from "react";
import { useApi, useSend } from "../../api/hooks.ts";
import type { Role } from "../../api/names.ts";
import type { Input } from "../../api/request.ts";
import { useMe } from "../../api/session.tsx";
import type { StaffMember } from "../../api/staff-api.d.ts";
import { Button, Icon } from "../../components/button.tsx";
import { OwnPasswordField, ownPassword, Select, TextInput } from "../../components/controls.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { ConfirmDialog, Dialog } from "../../components/dialog.tsx";
import { Badge, Card, Time } from "../../components/display.tsx";
import { Field, Form, type FormValues } from "../../components/form.tsx";
import { Menu, MenuItem } from "../../components/menu.tsx";
import { Loaded } from "../../components/states.tsx";
import { useToast } from "../../shell/toasts.tsx";
import { texts } from "../../texts/index.ts";

const t = texts.staff;

type Asking = "role" | "password" | "totp" | "remove";

/** People's accounts. */
export function People() {
  const people = useApi("GET /staff");
  const { name: own } = useMe();
  const [adding, setAdding] = useState(false);
  const [asking, setAsking] = useState<{ what: Asking; member: StaffMember }>();
  const columns = useMemo(() => columnsFor(own, (what, member) => setAsking({ what, member })), [own]);
  const dialog = (what: Asking) => ({
    open: asking?.what === what,
    onOpenChange: () => setAsking(undefined),
  });
  return (
    <Card
      title={t.people}
      actions={
        <Button kind="primary" onClick={() => setAdding(true)}>
          {t.addPerson}
        </Button>
      }
    >
      <p className="muted">{t.ownNote}</p>
      <Loaded of={people}>
        {({ items }) => (
          <DataTable label={t.people} columns={columns} rows={items} rowKey={({ name }) => name} empty={null} />
        )}
      </Loaded>
      <AddPerson open={adding} onOpenChange={setAdding} />
      {asking && (
        <>
          <ChangeRole member={asking.member} {...dialog("role")} />
          <SetPassword member={asking.member} {...dialog("password")} />
          <SwitchTotpOff member={asking.member} {...dialog("totp")} />
          <RemovePerson member={asking.member} {...dialog("remove")} />
        </>
      )}
    </Card>
  );
}

function columnsFor(own: string, onAsk: (what: Asking, member: StaffMember) => void): readonly Column<StaffMember>[] {
  return [
    {
      ...{ id: "name", header: t.name, sort: ({ name }) => name },
      cell: ({ name }) => (
        <span className="row">
          {name} {name === own && <Badge tone="info">{t.you}</Badge>}
        </span>
      ),
    },
    {
      ...{ id: "role", header: t.role, sort: ({ role }) => texts.common.roles[role] },
      cell: ({ role }) => texts.common.roles[role],
    },
    {
      ...{ id: "totp", header: t.totp },
      cell: ({ hasTotp }) => <Badge tone={hasTotp ? "success" : "neutral"}>{hasTotp ? t.on : t.off}</Badge>,
    },
    {
      id: "created",
      header: t.added,
      sort: ({ createdAt }) => createdAt,
      cell: ({ createdAt }) => <Time of={createdAt} />,
    },
    {
      ...{ id: "actions", header: texts.common.actions, hideHeader: true, isNumber: true },
      cell: (member) => member.name !== own && <Actions of={member} onAsk={(what) => onAsk(what, member)} />,
    },
  ];
}

function Actions({ of: { name, hasTotp }, onAsk }: { of: StaffMember; onAsk: (what: Asking) => void }) {
  return (
    <Menu label={texts.common.rowActions(name)} quiet trigger={<Icon name="more" />}>
      <MenuItem onSelect={() => onAsk("role")}>{t.changeRole}</MenuItem>
      <MenuItem onSelect={() => onAsk("password")}>{t.newPassword}</MenuItem>
      {hasTotp && <MenuItem onSelect={() => onAsk("totp")}>{t.totpOff}</MenuItem>}
      <MenuItem danger onSelect={() => onAsk("remove")}>
        {t.remove}
      </MenuItem>
    </Menu>
  );
}

interface DialogProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
}

type MemberDialogProps = DialogProps & { readonly member: StaffMember };

function AddPerson({ open, onOpenChange }: DialogProps) {
  const send = useSend("POST /staff");
  const toast = useToast();
  const submit = async (values: FormValues) => {
    const person = { name: values.text("name"), role: values.text("role") as Role, password: values.raw("password") };
    const { name } = await send.mutateAsync({ ...person, ...ownPassword(values) });
    onOpenChange(false);
    toast(t.personAdded(name));
  };
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title={t.addPerson} description={t.addPersonText}>
      <Form submit={t.addPerson} onSubmit={submit}>
        <Field name="name" label={t.name} hint={t.nameHint}>
          <TextInput required maxLength={64} />
        </Field>
        <RoleField />
        <PasswordField />
        <OwnPasswordField />
      </Form>
    </Dialog>
  );
}

function ChangeRole({ member: { name, role }, open, onOpenChange }: MemberDialogProps) {
  const change = useChange(name, onOpenChange);
  const submit = (values: FormValues) => {
    const next = values.text("role") as Role;
    return change({ role: next, ...ownPassword(values) }, t.roleChanged(name, texts.common.roles[next]));
  };
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title={t.changeRoleTitle(name)} description={t.endsLogIns}>
      <Form submit={t.save} onSubmit={submit}>
        <RoleField initially={role} />
        <OwnPasswordField />
      </Form>
    </Dialog>
  );
}

function SetPassword({ member: { name }, open, onOpenChange }: MemberDialogProps) {
  const change = useChange(name, onOpenChange);
  const submit = (values: FormValues) =>
    change({ password: values.raw("password"), ...ownPassword(values) }, t.passwordSet(name));
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title={t.newPasswordTitle(name)} description={t.endsLogIns}>
      <Form submit={t.save} onSubmit={submit}>
        <PasswordField />
        <OwnPasswordField />
      </Form>
    </Dialog>
  );
}

function SwitchTotpOff({ member: { name }, open, onOpenChange }: MemberDialogProps) {
  const change = useChange(name, onOpenChange);
  return (
    <ConfirmDialog
      {...{ open, onOpenChange, title: t.totpOffTitle(name), description: t.totpOffText, confirm: t.totpOff }}
      onConfirm={(_, values) => change({ totp: false, ...ownPassword(values) }, t.totpIsOff(name))}
    >
      <OwnPasswordField />
    </ConfirmDialog>
  );
}

function RemovePerson({ member: { name }, open, onOpenChange }: MemberDialogProps) {
  const send = useSend("DELETE /staff/:name");
  const toast = useToast();
  return (
    <ConfirmDialog
      {...{ open, onOpenChange, title: t.removeTitle(name), description: t.removeText, confirm: t.remove }}
      danger
      onConfirm={async (_, values) => {
        await send.mutateAsync({ name, ...ownPassword(values) });
        toast(t.removed(name));
      }}
    >
      <OwnPasswordField />
    </ConfirmDialog>
  );
}

/** It is read out to the person or copied: it shows. */
function PasswordField() {
  return (
    <Field name="password" label={t.password} hint={t.passwordHint}>
      <TextInput required minLength={12} maxLength={256} autoCapitalize="none" className="code" />
    </Field>
  );
}

function useChange(name: string, onOpenChange: (open: boolean) => void) {
  const send = useSend("PATCH /staff/:name");
  const toast = useToast();
  return async (changes: Omit<Input<"PATCH /staff/:name">, "name">, done: string) => {
    await send.mutateAsync({ name, ...changes });
    onOpenChange(false);
    toast(done);
  };
}

export const ROLES: readonly Role[] = ["viewer", "support", "finance", "admin"];

/** Says what the chosen role may do. */
export function RoleField({ initially = "viewer" }: { initially?: Role }) {
  const [role, setRole] = useState(initially);
  return (
    <Field name="role" label={texts.staff.role} hint={texts.staff.roleTexts[role]}>
      <Select
        value={role}
        options={ROLES.map((one) => [one, texts.common.roles[one]] as const)}
        onChange={({ target }) => setRole(target.value as Role)}
      />
    </Field>
  );
}
