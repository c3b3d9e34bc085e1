import { Link } from "wouter";
import { useApi, usePages } from "../../api/hooks.ts";
import { useMay } from "../../api/session.tsx";
import type { FailedDelivery, Target as TargetData } from "../../api/staff-api.d.ts";
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
  const target = useApi("GET /targets/:name", { name });
  const mayChange = useMay("administer");
  return (
    <>
      <PageHead
        title={name}
        up={UP}
        actions={
          <>
            <ReloadButton of={target} />
            {target.data && mayChange && <TargetActions target={target.data} />}
          </>
        }
      />
      <Loaded of={target}>{(found) => <Shown target={found} />}</Loaded>
    </>
  );
}

function Shown({ target }: { target: TargetData }) {
  const { name, kind, state, address, billing, createdAt, behind, failing, setAside, oldestAt } = target;
  const tone = TONES[state];
  const failed = usePages("GET /targets/:name/failed", { name });
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
        <PagedTable
          label={t.failed}
          columns={COLUMNS}
          pages={failed}
          rowKey={({ id }) => id}
          empty={<EmptyState title={t.failedEmptyTitle}>{t.failedEmpty}</EmptyState>}
        />
      </Card>
      {kind !== "feed" && <Deliveries target={target} />}
    </>
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
