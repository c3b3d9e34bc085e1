import { Link } from "wouter";
import { useApi, usePages } from "../../api/hooks.ts";
import { useMay } from "../../api/session.tsx";
import type { FailedDelivery, Target as TargetData } from "../../api/staff-api.d.ts";
import { LinkButton } from "../../components/button.tsx";
import { type Column, PagedTable } from "../../components/data-table.tsx";
import { Badge, Card, Code, Fact, Grid, KeyValue, Stat, Time } from "../../components/display.tsx";
import { useEnvironment } from "../../components/environment.tsx";
import { PageHead } from "../../components/page-head.tsx";
import { EmptyState, Loaded, Note, ReloadButton } from "../../components/states.tsx";
import { formatAge, formatCount } from "../../format.ts";
import { customerHref } from "../../links.ts";
import type { PageProps } from "../../page-props.ts";
import { texts } from "../../texts/index.ts";
import { Deliveries, subjectOf } from "./deliveries.tsx";
import { kindOf, StateBadge, TONES } from "./state.tsx";
import { TargetActions } from "./target-actions.tsx";

const t = texts.targets;

const UP = { href: "/targets", title: texts.shell.pages.targets };

export default function Target({ params: { name = "" } }: PageProps) {
  const targets = useApi("GET /targets");
  const mayChange = useMay("administer");
  const target = targets.data?.items.find((one) => one.name === name);
  return (
    <>
      <PageHead
        title={name}
        up={UP}
        actions={
          <>
            <ReloadButton of={targets} />
            {target && mayChange && <TargetActions target={target} />}
          </>
        }
      />
      <Loaded of={targets}>
        {() =>
          target === undefined ? (
            <EmptyState title={t.notFoundTitle} action={<LinkButton href="/targets">{t.toList}</LinkButton>}>
              {t.notFound}
            </EmptyState>
          ) : (
            <Shown target={target} />
          )
        }
      </Loaded>
    </>
  );
}

function Shown({ target }: { target: TargetData }) {
  const { kind, state, address, billing, createdAt, behind, failing, setAside, oldestAt } = target;
  const tone = TONES[state];
  return (
    <>
      <Note tone={tone === "danger" ? "warning" : tone}>
        {state === "behind" && kind === "feed" ? t.notes.behindFeed : t.notes[state]}
      </Note>
      <Grid>
        <Stat label={t.behind} value={formatCount(behind)} note={t.counts.behind} />
        <Stat label={t.failing} value={formatCount(failing)} note={t.counts.failing} />
        <Stat label={t.setAside} value={formatCount(setAside)} note={t.counts.setAside} />
        <Stat
          label={t.oldest}
          value={oldestAt === null ? texts.common.none : formatAge(oldestAt)}
          note={oldestAt === null ? t.counts.oldest : <Time of={oldestAt} />}
        />
      </Grid>
      <Card>
        <KeyValue>
          <Fact label={t.kind} value={kindOf(target)} />
          <Fact label={t.state} value={<StateBadge target={target} />} />
          <Fact label={t.address} value={address && <Code>{address}</Code>} />
          <Fact label={t.isBilling} value={billing ? texts.common.yes : texts.common.no} />
          <Fact label={t.createdAt} value={<Time of={createdAt} />} />
        </KeyValue>
      </Card>
      <Card title={t.failed}>
        {failing > 0 || setAside > 0 ? (
          <FailedDeliveries target={target} />
        ) : (
          <EmptyState title={t.failedEmptyTitle}>{t.failedEmpty}</EmptyState>
        )}
      </Card>
      {kind !== "feed" && <Deliveries target={target} />}
    </>
  );
}

/** Events that failed, or wait behind a failed one. */
function FailedDeliveries({ target }: { target: TargetData }) {
  const failed = usePages("GET /targets/:name/failed", { name: target.name });
  return (
    <PagedTable
      label={t.failed}
      columns={COLUMNS}
      pages={failed}
      rowKey={({ id }) => id}
      empty={<EmptyState title={t.failedEmptyTitle} />}
    />
  );
}

const COLUMNS: readonly Column<FailedDelivery>[] = [
  { header: t.event, cell: ({ kind }) => t.events[kind] ?? kind },
  { header: t.customer, cell: (delivery) => <Customer of={delivery} /> },
  { header: t.connection, cell: subjectOf },
  { header: t.problem, cell: ({ problem, attempts }) => problem ?? (attempts === 0 && t.waitsBehind) },
  { header: t.attempts, isNumber: true, cell: ({ attempts }) => formatCount(attempts) },
  { header: t.failsSince, cell: ({ failedAt }) => <Time of={failedAt} age /> },
  {
    header: t.nextTry,
    cell: ({ setAside, nextAt }) =>
      setAside ? <Badge tone="danger">{t.states.set_aside}</Badge> : <Time of={nextAt} age />,
  },
];

/** Links to the customer only in the shown environment. */
function Customer({ of: { cuid, environment } }: { of: FailedDelivery }) {
  const shown = useEnvironment();
  if (environment === shown && cuid !== null) return <Link href={customerHref({ cuid })}>{cuid}</Link>;
  return (
    <>
      {cuid} <Badge>{texts.common.environments[environment]}</Badge>
    </>
  );
}
