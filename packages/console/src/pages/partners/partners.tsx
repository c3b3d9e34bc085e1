import { useState } from "react";
import { useLocation } from "wouter";
import { useApi, useSend } from "../../api/hooks.ts";
import { useMay } from "../../api/session.tsx";
import type { ListedPartner } from "../../api/staff-api.d.ts";
import { Button } from "../../components/button.tsx";
import { TextInput } from "../../components/controls.tsx";
import type { Column } from "../../components/data-table.tsx";
import { ActionDialog } from "../../components/dialog.tsx";
import { Badge, Time } from "../../components/display.tsx";
import { useEnvironment } from "../../components/environment.tsx";
import { Field } from "../../components/form.tsx";
import { ListPage } from "../../components/list-page.tsx";
import { EmptyState } from "../../components/states.tsx";
import { formatCount } from "../../format.ts";
import { partnerHref } from "../../links.ts";
import { texts } from "../../texts/index.ts";
import { Available } from "./available.tsx";

const t = texts.partners;

export default function Partners() {
  const partners = useApi("GET /partners", { environment: useEnvironment() });
  const mayAdd = useMay("administer");
  const [isAdding, setAdding] = useState(false);
  const add = (
    <Button kind="primary" onClick={() => setAdding(true)}>
      {t.add}
    </Button>
  );
  return (
    <>
      <ListPage
        title={texts.shell.pages.partners}
        lead={t.lead}
        actions={mayAdd && add}
        label={t.list}
        list={partners}
        columns={COLUMNS}
        rowKey={({ name }) => name}
        rowHref={partnerHref}
        empty={<EmptyState title={t.none}>{t.noneHint}</EmptyState>}
      />
      {isAdding && <AddPartner onClose={() => setAdding(false)} />}
    </>
  );
}

const COLUMNS: readonly Column<ListedPartner>[] = [
  { header: t.name, cell: ({ name }) => name, sort: ({ name }) => name.toLowerCase() },
  { header: t.status, cell: (partner) => <PartnerState of={partner} />, sort: ({ state }) => state },
  {
    header: texts.partnerAccounts.available,
    cell: (partner) => <Available of={partner} />,
    isNumber: true,
    place: "amount",
  },
  {
    header: t.validTokens,
    cell: ({ validTokens }) => formatCount(validTokens),
    sort: ({ validTokens }) => validTokens,
    isNumber: true,
  },
  {
    header: t.lastUsed,
    cell: ({ lastUsedAt }) => <Time of={lastUsedAt} age none={t.never} />,
    sort: ({ lastUsedAt }) => lastUsedAt ?? "",
  },
  {
    header: t.addresses,
    cell: ({ allowedAddresses: all }) => (all === null ? t.anywhere : t.countOfAddresses(all.length)),
  },
  { header: t.certified, cell: ({ certifiedAt }) => <Time of={certifiedAt} />, sort: (row) => row.certifiedAt ?? "" },
  { header: t.added, cell: ({ createdAt }) => <Time of={createdAt} exact />, sort: ({ createdAt }) => createdAt },
];

function AddPartner({ onClose }: { onClose: () => void }) {
  const send = useSend("POST /partners");
  const [, navigate] = useLocation();
  return (
    <ActionDialog
      title={t.add}
      description={t.addHint}
      submit={t.add}
      onSubmit={async (values) => {
        const { name } = await send.mutateAsync({ name: values.text("name") });
        navigate(partnerHref({ name }));
        return { toast: t.addDone(name) };
      }}
      onClose={onClose}
    >
      <Field name="name" label={t.name} hint={t.nameHint}>
        <TextInput required maxLength={64} />
      </Field>
    </ActionDialog>
  );
}

function PartnerState({ of: { state, refusedToday } }: { of: ListedPartner }) {
  if (state !== "refused_today") return <Badge tone={STATE_TONES[state]}>{t.partnerStates[state]}</Badge>;
  return refusedToday.map(({ reason, limit, count }) => (
    <Badge key={`${reason} ${limit}`} tone="danger">
      {t.refusedToday(formatCount(count), t.refusals[reason])}
    </Badge>
  ));
}

const STATE_TONES = { active: "success", low: "warning", spent: "danger", suspended: "danger" } as const;
