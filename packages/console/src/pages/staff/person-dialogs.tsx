import { useSend } from "../../api/hooks.ts";
import type { Role } from "../../api/names.ts";
import type { Input } from "../../api/request.ts";
import type { StaffMember } from "../../api/staff-api.d.ts";
import { TextInput } from "../../components/controls.tsx";
import { ConfirmDialog, Dialog } from "../../components/dialog.tsx";
import { Field, Form, type FormValues } from "../../components/form.tsx";
import { OwnPasswordField, ownPassword } from "../../components/own-password.tsx";
import { useToast } from "../../shell/toasts.tsx";
import { texts } from "../../texts/index.ts";
import { RoleField } from "./role-field.tsx";

const t = texts.staff;

interface DialogProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
}

type MemberDialogProps = DialogProps & { readonly member: StaffMember };

export function AddPerson({ open, onOpenChange }: DialogProps) {
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

export function ChangeRole({ member: { name, role }, open, onOpenChange }: MemberDialogProps) {
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

export function SetPassword({ member: { name }, open, onOpenChange }: MemberDialogProps) {
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

export function SwitchTotpOff({ member: { name }, open, onOpenChange }: MemberDialogProps) {
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

export function RemovePerson({ member: { name }, open, onOpenChange }: MemberDialogProps) {
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
