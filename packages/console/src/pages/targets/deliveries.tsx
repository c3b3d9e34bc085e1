import { useState } from "react";
import { useLive, useSend } from "../../api/hooks.ts";
import { useMay } from "../../api/session.tsx";
import type { Delivery, PartnerWebhook as Facts, Target } from "../../api/staff-api.d.ts";
import { Button, LinkButton } from "../../components/button.tsx";
import { TextArea } from "../../components/controls.tsx";
import { type Column, DataTable, LoadedTable } from "../../components/data-table.tsx";
import { ActionButton, Dialog } from "../../components/dialog.tsx";
import { Badge, Card, Code, Time } from "../../components/display.tsx";
import { useEnvironment } from "../../components/environment.tsx";
import { Field } from "../../components/form.tsx";
import { EmptyState, Loaded } from "../../components/states.tsx";
import { formatCount } from "../../format.ts";
import { targetHref } from "../../links.ts";
import { texts } from "../../texts/index.ts";
import { StateBadge } from "./state.tsx";

const t = texts.targets;

/** The last attempts at a target. For administrators, each opens with its body and answer. */
export function Deliveries({ target: { name, kind } }: { target: Target }) {
  const deliveries = useLive("GET /targets/:name/deliveries", { name }, { seconds: 10 });
  const testing = useSend("POST /targets/:name/test");
  const mayChange = useMay("administer");
  const [opened, setOpened] = useState<Delivery>();
  const test = async () => {
    const { status, durationMs, problem } = await testing.mutateAsync({ name });
    return problem === null ? t.tested(status, formatCount(durationMs)) : t.testFailed(problem);
  };
  const button: Column<Delivery> = {
    header: t.details,
    hideHeader: true,
    place: "amount",
    cell: (delivery) => <Button onClick={() => setOpened(delivery)}>{t.details}</Button>,
  };
  return (
    <Card
      title={t.deliveries}
      actions={mayChange && kind === "webhook" ? <ActionButton action={test}>{t.test}</ActionButton> : undefined}
    >
      <LoadedTable
        label={t.deliveries}
        columns={mayChange ? [...COLUMNS, button] : COLUMNS}
        list={deliveries}
        rowKey={({ at, id }) => `${at} ${id}`}
        empty={<EmptyState title={t.deliveriesEmptyTitle}>{t.deliveriesEmpty}</EmptyState>}
      />
      {opened && <Details of={opened} name={name} onClose={() => setOpened(undefined)} />}
    </Card>
  );
}

/** The webhook of a partner in the shown environment. Its answers are not kept. */
export function PartnerWebhook({ name }: { name: string }) {
  const webhook = useLive("GET /partners/:name/webhook", { name, environment: useEnvironment() }, { seconds: 10 });
  const target = webhook.data?.webhook;
  const actions = target && (
    <>
      <StateBadge target={target} />
      <LinkButton href={targetHref(target)}>{texts.partners.toWebhook}</LinkButton>
    </>
  );
  return (
    <Card title={t.kinds.webhook} actions={actions}>
      <Loaded of={webhook}>
        {({ deliveries }) => (
          <DataTable
            label={t.deliveries}
            columns={FACT_COLUMNS}
            rows={deliveries}
            rowKey={({ at, id }) => `${at} ${id}`}
            empty={<EmptyState title={target ? t.deliveriesEmptyTitle : texts.partners.noWebhook} />}
          />
        )}
      </Loaded>
    </Card>
  );
}

const FACT_COLUMNS: readonly Column<Facts["deliveries"][number]>[] = [
  { header: t.time, cell: ({ at }) => <Time of={at} exact /> },
  { header: t.event, cell: ({ type }) => t.events[type] ?? type },
  { header: t.status, cell: (delivery) => <Outcome of={delivery} /> },
];

/** The connection of an event, or the partner of an alert. */
export function subjectOf({ service, reqId, partner }: Pick<Delivery, "service" | "reqId" | "partner">) {
  return service === null ? partner : `${texts.common.services[service]} ${reqId}`;
}

const eventOf = ({ kind }: Delivery) => t.events[kind] ?? kind;

const COLUMNS: readonly Column<Delivery>[] = [
  { header: t.time, cell: ({ at }) => <Time of={at} exact /> },
  { header: t.event, cell: eventOf },
  { header: t.connection, cell: subjectOf },
  { header: t.attempt, isNumber: true, cell: ({ attempt }) => formatCount(attempt) },
  { header: t.status, cell: (delivery) => <Outcome of={delivery} /> },
];

function Outcome({ of: { status, problem } }: { of: Pick<Delivery, "status" | "problem"> }) {
  return <Badge tone={problem === null ? "success" : "danger"}>{status ?? problem ?? t.delivered}</Badge>;
}

interface DetailsProps {
  readonly of: Delivery;
  /** Name of the target. */
  readonly name: string;
  readonly onClose: () => void;
}

function Details({ of: delivery, name, onClose }: DetailsProps) {
  const { id, kind, request, answer, problem, status } = delivery;
  const resending = useSend("POST /targets/:name/resend");
  const resend = async () => {
    const { resent } = await resending.mutateAsync({ name, event: id });
    onClose();
    return t.resent(formatCount(resent));
  };
  return (
    <Dialog title={eventOf(delivery)} description={<Code>{id}</Code>} onClose={onClose}>
      <p>{problem ?? (status === null ? t.delivered : t.statusIs(status))}</p>
      <Field name="request" label={t.request}>
        <TextArea readOnly rows={10} value={request ?? ""} />
      </Field>
      <Field name="answer" label={t.answer}>
        <TextArea readOnly value={answer ?? ""} />
      </Field>
      {kind !== "test" && (
        <div className="row">
          <ActionButton kind="primary" action={resend}>
            {t.sendAgain}
          </ActionButton>
        </div>
      )}
    </Dialog>
  );
}
