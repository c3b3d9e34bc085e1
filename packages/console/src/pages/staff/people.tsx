import { useMemo, useState } from "react";
import { useApi } from "../../api/hooks.ts";
import { useMe } from "../../api/session.tsx";
import type { StaffMember } from "../../api/staff-api.d.ts";
import { Button } from "../../components/button.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Badge, Card, Time } from "../../components/display.tsx";
import { Icon } from "../../components/icon.tsx";
import { Menu, MenuItem } from "../../components/menu.tsx";
import { Loaded } from "../../components/states.tsx";
import { texts } from "../../texts/index.ts";
import { AddPerson, ChangeRole, RemovePerson, SetPassword, SwitchTotpOff } from "./person-dialogs.tsx";

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
