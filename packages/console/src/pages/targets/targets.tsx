import { useState } from "react";
import { useApi, useSend } from "../../api/hooks.ts";
import { ApiProblem } from "../../api/problem.ts";
import type { Input, Service } from "../../api/request.ts";
import { useMay, useMe } from "../../api/session.tsx";
import type { Target } from "../../api/staff-api.d.ts";
import { Button } from "../../components/button.tsx";
import { Checkbox, Select, TextArea, TextInput } from "../../components/controls.tsx";
import type { Column } from "../../components/data-table.tsx";
import { ActionDialog } from "../../components/dialog.tsx";
import { Time } from "../../components/display.tsx";
import { Field, type FormValues } from "../../components/form.tsx";
import { ListPage } from "../../components/list-page.tsx";
import { EmptyState } from "../../components/states.tsx";
import { formatCount } from "../../format.ts";
import { targetHref } from "../../links.ts";
import { texts } from "../../texts/index.ts";
import { kindOf, StateBadge, secretOf } from "./state.tsx";

const t = texts.targets;

const COLUMNS: readonly Column<Target>[] = [
  { header: t.name, cell: ({ name }) => name, sort: ({ name }) => name },
  { header: t.kind, cell: kindOf, sort: ({ kind }) => kind },
  { header: t.state, cell: (target) => <StateBadge target={target} />, sort: ({ state }) => state },
  ...(["behind", "failing", "setAside"] as const).map(
    (id): Column<Target> => ({
      header: t[id],
      isNumber: true,
      cell: (target) => formatCount(target[id]),
      sort: (target) => target[id],
    }),
  ),
  { header: t.oldest, cell: ({ oldestAt }) => <Time of={oldestAt} age /> },
];

export default function Targets() {
  const targets = useApi("GET /targets");
  const mayAdd = useMay("administer");
  const [adding, setAdding] = useState(false);
  const add = mayAdd && (
    <Button kind="primary" onClick={() => setAdding(true)}>
      {t.add}
    </Button>
  );
  return (
    <>
      <ListPage
        title={texts.shell.pages.targets}
        lead={t.lead}
        actions={add}
        label={t.list}
        list={targets}
        columns={COLUMNS}
        rowKey={({ name }) => name}
        rowHref={targetHref}
        empty={<EmptyState title={t.emptyTitle}>{mayAdd ? t.empty : t.emptyReader}</EmptyState>}
      />
      {adding && <AddTarget onClose={() => setAdding(false)} />}
    </>
  );
}

type Kind = Target["kind"];
type TargetInput = Input<"POST /targets">;
const KINDS: readonly Kind[] = ["webhook", "feed", "radius"];
const SERVICES: readonly Service[] = ["internet", "tv", "iptv"];

/** Adds a target with the fields of its kind. A webhook's secret is shown afterwards. */
function AddTarget({ onClose }: { onClose: () => void }) {
  const send = useSend("POST /targets");
  const [kind, setKind] = useState<Kind>("webhook");
  return (
    <ActionDialog
      title={t.add}
      description={t.addDescription}
      submit={t.add}
      onSubmit={async (values) => {
        const { target, secret } = await send.mutateAsync(inputOf(kind, values));
        return { toast: t.added(target.name), secret: secret === null ? undefined : secretOf(target.name, secret) };
      }}
      onClose={onClose}
    >
      <Field name="kind" label={t.kind} hint={t.kindHints[kind]}>
        <Select
          value={kind}
          options={KINDS.map((one) => [one, t.kinds[one]] as const)}
          onChange={({ target }) => setKind(target.value as Kind)}
        />
      </Field>
      <Field name="name" label={t.name} hint={t.nameHint}>
        <TextInput required maxLength={64} autoCapitalize="none" />
      </Field>
      {kind === "webhook" && <WebhookFields />}
      {kind === "radius" ? <RadiusFields /> : <Checkbox name="billing" label={t.billing} hint={t.billingHint} />}
    </ActionDialog>
  );
}

function WebhookFields() {
  return (
    <Field name="webhook.url" label={t.url} hint={t.urlHint}>
      <TextInput required type="url" placeholder="https://" />
    </Field>
  );
}

function RadiusFields() {
  const { timeZone } = useMe().provider;
  return (
    <>
      <Field name="radius.database" label={t.database} hint={t.databaseHint}>
        <TextInput required autoCapitalize="none" placeholder="mysql://topupd:PASSWORD@radius.example.net/radius" />
      </Field>
      <Field name="radius.service" label={t.service} hint={t.serviceHint}>
        <Select options={SERVICES.map((service) => [service, texts.common.services[service]] as const)} />
      </Field>
      <Field name="radius.timeZone" label={t.timeZone} hint={t.timeZoneHint(timeZone)}>
        <TextInput placeholder={timeZone} />
      </Field>
      <Field name="radius.groups" label={t.groups} hint={t.groupsHint}>
        <TextArea spellCheck={false} placeholder={"Fiber 60 = 60M\nFiber 100 = 100M"} />
      </Field>
      <Field name="radius.defaultGroup" label={t.defaultGroup}>
        <TextInput />
      </Field>
    </>
  );
}

function inputOf(kind: Kind, values: FormValues): TargetInput {
  const name = values.text("name");
  if (kind === "radius") return { name, radius: radiusOf(values) };
  const billing = values.checked("billing");
  if (kind === "feed") return { name, billing };
  return { name, billing, webhook: { url: values.text("webhook.url") } };
}

function radiusOf(values: FormValues): NonNullable<TargetInput["radius"]> {
  const [timeZone, defaultGroup] = [values.optional("radius.timeZone"), values.optional("radius.defaultGroup")];
  return {
    database: values.text("radius.database"),
    service: values.text("radius.service") as Service,
    ...(timeZone && { timeZone }),
    groups: groupsOf(values.text("radius.groups")),
    ...(defaultGroup && { defaultGroup }),
  };
}

/** Reads lines of `PLAN = GROUP`; a plan may contain an equals sign. */
function groupsOf(text: string): Record<string, string> {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return Object.fromEntries(
    lines.map((line) => {
      const [, plan, group] = /^(.*\S)\s*=\s*([^=]*[^=\s])\s*$/.exec(line) ?? [];
      if (plan === undefined || group === undefined) throw ApiProblem.ofField("radius.groups", t.groupsProblem(line));
      return [plan.trim(), group];
    }),
  );
}
