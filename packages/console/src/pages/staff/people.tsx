import { useMemo, useState } from "react";
import { useApi, useSend } from "../../api/hooks.ts";
import type { Role } from "../../api/request.ts";
import { useMe } from "../../api/session.tsx";
import type { StaffMember } from "../../api/staff-api.d.ts";
import { Button, Icon } from "../../components/button.tsx";
import { Checkbox, OwnPasswordField, ownPassword, Select, TextInput } from "../../components/controls.tsx";
import { type Column, LoadedTable } from "../../components/data-table.tsx";
import { ActionDialog } from "../../components/dialog.tsx";
import { Badge, Card, Time } from "../../components/display.tsx";
import { useEnvironment } from "../../components/environment.tsx";
import { Field } from "../../components/form.tsx";
import { Menu, MenuItem } from "../../components/menu.tsx";
import { texts } from "../../texts/index.ts";

const t = texts.staff;

const DIALOGS = { role: ChangeRole, password: SetPassword, totp: SwitchTotpOff, remove: RemovePerson };
type Asking = keyof typeof DIALOGS;

/** Accounts of people. */
export function People() {
  const people = useApi("GET /staff");
  const { name: own } = useMe();
  const [adding, setAdding] = useState(false);
  const [asking, setAsking] = useState<{ what: Asking; member: StaffMember }>();
  const columns = useMemo(() => columnsFor(own, (what, member) => setAsking({ what, member })), [own]);
  const Asked = asking && DIALOGS[asking.what];
  const close = () => setAsking(undefined);
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
      <LoadedTable list={people} label={t.people} columns={columns} rowKey={({ name }) => name} />
      {adding && <AddPerson onClose={() => setAdding(false)} />}
      {asking && Asked && <Asked member={asking.member} onClose={close} />}
    </Card>
  );
}

function roleName({ role, sellerOf }: StaffMember): string {
  if (sellerOf !== null) return t.sellerOf(sellerOf);
  return role === null ? texts.common.none : texts.common.roles[role];
}

function columnsFor(own: string, onAsk: (what: Asking, member: StaffMember) => void): readonly Column<StaffMember>[] {
  return [
    {
      header: t.name,
      sort: ({ name }) => name,
      cell: ({ name }) => (
        <span className="row">
          {name} {name === own && <Badge tone="info">{t.you}</Badge>}
        </span>
      ),
    },
    { header: t.role, sort: roleName, cell: roleName },
    {
      header: t.totp,
      cell: ({ hasTotp, logsInWith }) =>
        logsInWith === "oidc" ? (
          t.issuer
        ) : (
          <Badge tone={hasTotp ? "success" : "neutral"}>{hasTotp ? t.on : t.off}</Badge>
        ),
    },
    {
      header: t.added,
      place: "hidden",
      sort: ({ createdAt }) => createdAt,
      cell: ({ createdAt }) => <Time of={createdAt} exact />,
    },
    {
      header: t.lastLogIn,
      sort: ({ lastLogInAt }) => lastLogInAt ?? "",
      cell: ({ lastLogInAt }) => <Time of={lastLogInAt} age none={t.never} />,
    },
    {
      header: texts.common.actions,
      hideHeader: true,
      isNumber: true,
      place: "amount",
      cell: (member) => member.name !== own && <Actions of={member} onAsk={(what) => onAsk(what, member)} />,
    },
  ];
}

function Actions({ of: member, onAsk }: { of: StaffMember; onAsk: (what: Asking) => void }) {
  const { name, role, hasTotp, logsInWith } = member;
  return (
    <Menu label={texts.common.rowActions(name)} quiet trigger={<Icon name="more" />}>
      {logsInWith === "password" && role !== "seller" && (
        <MenuItem onSelect={() => onAsk("role")}>{t.changeRole}</MenuItem>
      )}
      {logsInWith === "password" && <MenuItem onSelect={() => onAsk("password")}>{t.newPassword}</MenuItem>}
      {hasTotp && <MenuItem onSelect={() => onAsk("totp")}>{t.totpOff}</MenuItem>}
      <MenuItem danger onSelect={() => onAsk("remove")}>
        {t.remove}
      </MenuItem>
    </Menu>
  );
}

interface MemberDialogProps {
  readonly member: StaffMember;
  readonly onClose: () => void;
}

function AddPerson({ onClose }: { onClose: () => void }) {
  const send = useSend("POST /staff");
  const environment = useEnvironment();
  const partners = useApi("GET /partners").data?.items ?? [];
  const [sellerOf, setSellerOf] = useState("");
  return (
    <ActionDialog
      title={t.addPerson}
      description={t.addPersonText}
      submit={t.addPerson}
      onSubmit={async (values) => {
        const name = values.text("name");
        const what = sellerOf === "" ? { role: values.text("role") as Role } : { sellerOf, environment };
        await send.mutateAsync({ name, ...what, password: values.raw("password"), ...ownPassword(values) });
        return { toast: t.personAdded(name) };
      }}
      onClose={onClose}
    >
      <Field name="name" label={t.name} hint={t.nameHint}>
        <TextInput required maxLength={64} />
      </Field>
      <Field name="sellerOf" label={t.worksFor} hint={sellerOf === "" ? "" : t.sellerHint(environment)}>
        <Select
          value={sellerOf}
          any={t.provider}
          options={partners.map((partner) => [partner.name, partner.name] as const)}
          onChange={({ target }) => setSellerOf(target.value)}
        />
      </Field>
      {sellerOf === "" && <RoleField />}
      <PasswordField />
      <OwnPasswordField />
    </ActionDialog>
  );
}

function ChangeRole({ member: { name, role }, onClose }: MemberDialogProps) {
  const send = useSend("PATCH /staff/:name");
  return (
    <ActionDialog
      title={t.changeRoleTitle(name)}
      description={t.endsLogIns}
      submit={t.save}
      onSubmit={async (values) => {
        const next = values.text("role") as Role;
        await send.mutateAsync({ name, role: next, ...ownPassword(values) });
        return { toast: t.roleChanged(name, texts.common.roles[next]) };
      }}
      onClose={onClose}
    >
      <RoleField initially={role === null || role === "seller" ? "viewer" : role} />
      <OwnPasswordField />
    </ActionDialog>
  );
}

function SetPassword({ member: { name }, onClose }: MemberDialogProps) {
  const send = useSend("PATCH /staff/:name");
  return (
    <ActionDialog
      title={t.newPasswordTitle(name)}
      description={t.endsLogIns}
      submit={t.save}
      onSubmit={async (values) => {
        await send.mutateAsync({ name, password: values.raw("password"), ...ownPassword(values) });
        return { toast: t.passwordSet(name) };
      }}
      onClose={onClose}
    >
      <PasswordField />
      <OwnPasswordField />
    </ActionDialog>
  );
}

function SwitchTotpOff({ member: { name }, onClose }: MemberDialogProps) {
  const send = useSend("PATCH /staff/:name");
  return (
    <ActionDialog
      title={t.totpOffTitle(name)}
      description={t.totpOffText}
      submit={t.totpOff}
      onSubmit={async (values) => {
        await send.mutateAsync({ name, totp: false, ...ownPassword(values) });
        return { toast: t.totpIsOff(name) };
      }}
      onClose={onClose}
    >
      <OwnPasswordField />
    </ActionDialog>
  );
}

function RemovePerson({ member: { name }, onClose }: MemberDialogProps) {
  const send = useSend("DELETE /staff/:name");
  const keys = (useApi("GET /staff-keys").data?.items ?? []).filter(({ madeBy }) => madeBy === name);
  return (
    <ActionDialog
      title={t.removeTitle(name)}
      description={t.removeText}
      submit={t.remove}
      danger
      onSubmit={async (values) => {
        await send.mutateAsync({ name, endKeys: values.checked("endKeys"), ...ownPassword(values) });
        return { toast: t.removed(name) };
      }}
      onClose={onClose}
    >
      {keys.length > 0 && (
        <>
          <p>{t.madeKeys(name)}</p>
          <ul>
            {keys.map((key) => (
              <li key={key.name}>
                {key.name}: {t.lastUsed} <Time of={key.lastUsedAt} age none={t.never} />
              </li>
            ))}
          </ul>
          <Checkbox name="endKeys" label={t.endKeys} />
        </>
      )}
      <OwnPasswordField />
    </ActionDialog>
  );
}

/** The password stays visible, so that staff can copy it or read it out. */
function PasswordField() {
  return (
    <Field name="password" label={t.password} hint={t.passwordHint}>
      <TextInput required minLength={12} maxLength={256} autoCapitalize="none" className="code" />
    </Field>
  );
}

/** A role, with what it may do as the hint. */
export function RoleField({ initially = "viewer" }: { initially?: Role }) {
  const [role, setRole] = useState(initially);
  const roles = useApi("GET /roles").data?.items ?? [];
  return (
    <Field name="role" label={texts.staff.role} hint={roles.find((one) => one.role === role)?.may ?? ""}>
      <Select
        value={role}
        options={roles.map((one) => [one.role, texts.common.roles[one.role]] as const)}
        onChange={({ target }) => setRole(target.value as Role)}
      />
    </Field>
  );
}
