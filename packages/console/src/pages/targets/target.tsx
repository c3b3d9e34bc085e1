import { Link } from "wouter";
import { useApi, usePages } from "../../api/hooks.ts";
import { useMay } from "../../api/session.tsx";
import type { FailedDelivery, Target as TargetData } from "../../api/staff-api.d.ts";
import { Button, LinkButton } from "../../components/button.tsx";
import { type Column, PagedTable } from "../../components/data-table.tsx";
import { Badge, Card, Code, Grid, KeyValue, Stat, Time } from "../../components/display.tsx";
import { EmptyState, Loaded, Note } from "../../components/states.tsx";
import { formatAge, formatCount } from "../../format.ts";
import { customerHref } from "../../links.ts";
import type { PageProps } from "../../routes.ts";
import { useEnvironment } from "../../shell/environment.tsx";
import { PageHead } from "../../shell/page-head.tsx";
import { texts } from "../../texts/index.ts";
import { kindOf, StateBadge, stateOf, toneOf } from "./state.tsx";
import { TargetActions } from "./target-actions.tsx";

const t = texts.targets;

const UP = { href: "/targets", title: texts.shell.pages.targets };

export default function Target({ params: { name = "" } }: PageProps) {
  const targets = useApi("GET /targets");
  const mayChange = useMay("administer");
  const target = targets.data?.items.find((one) => one.name === name);
  const readAgain = (
    <Button busy={targets.isFetching} onClick={() => void targets.refetch()}>
      {texts.common.readAgain}
    </Button>
  );
  return (
    <>
      <PageHead
        title={name}
        up={UP}
        actions={
          <>
            {readAgain}
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
  const { kind, address, billing, createdAt, behind, failing, setAside, oldestAt } = target;
  const state = stateOf(target);
  const tone = toneOf(target);
  return (
    <>
      <Note tone={tone === "danger" ? "warning" : tone}>
        <p>{state === "behind" && kind === "feed" ? t.notes.behindFeed : t.notes[state]}</p>
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
        <KeyValue
          items={[
            [t.kind, kindOf(target)],
            [t.state, <StateBadge key="state" target={target} />],
            [t.address, address && <Code>{address}</Code>],
            [t.isBilling, billing ? texts.common.yes : texts.common.no],
            [t.createdAt, <Time key="created" of={createdAt} />],
          ]}
        />
      </Card>
      <Card title={t.failed}>
        {failing + setAside > 0 ? (
          <FailedDeliveries target={target} />
        ) : (
          <EmptyState title={t.failedEmptyTitle}>{t.failedEmpty}</EmptyState>
        )}
      </Card>
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
  { id: "event", header: t.event, cell: ({ kind }) => t.events[kind] ?? kind },
  { id: "customer", header: t.customer, cell: (delivery) => <Customer of={delivery} /> },
  {
    id: "connection",
    header: t.connection,
    cell: ({ service, reqId }) => `${texts.common.services[service]} ${reqId}`,
  },
  { id: "problem", header: t.problem, cell: ({ problem, attempts }) => problem ?? (attempts === 0 && t.waitsBehind) },
  { id: "attempts", header: t.attempts, isNumber: true, cell: ({ attempts }) => formatCount(attempts) },
  { id: "failedAt", header: t.failsSince, cell: ({ failedAt }) => <Time of={failedAt} age /> },
  {
    id: "nextAt",
    header: t.nextTry,
    cell: ({ setAside, nextAt }) =>
      setAside ? <Badge tone="danger">{t.states.setAside}</Badge> : <Time of={nextAt} age />,
  },
];

/** The customer's page is of the environment that shows. */
function Customer({ of: { cuid, environment } }: { of: FailedDelivery }) {
  const shown = useEnvironment();
  if (environment === shown) return <Link href={customerHref({ cuid })}>{cuid}</Link>;
  return (
    <>
      {cuid} <Badge>{texts.common.environments[environment]}</Badge>
    </>
  );
}
