import { Link } from "wouter";
import { useLive } from "../../api/hooks.ts";
import { useMe } from "../../api/session.tsx";
import type { Health as HealthData, Target } from "../../api/staff-api.d.ts";
import { LinkButton } from "../../components/button.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Badge, Card, connectionName, Fact, Grid, KeyValue, Time } from "../../components/display.tsx";
import { useEnvironment } from "../../components/environment.tsx";
import { PageHead } from "../../components/page-head.tsx";
import { EmptyState, Loaded, Note, StaleNote } from "../../components/states.tsx";
import { formatBytes, formatCount, formatSeconds, inSeconds } from "../../format.ts";
import { customerHref, targetHref } from "../../links.ts";
import { texts } from "../../texts/index.ts";
import { Attention } from "../overview/attention.tsx";
import { StateBadge } from "../targets/state.tsx";
import { LastMinutes } from "./last-minutes.tsx";

const t = texts.health;

type Migration = HealthData["migrations"][number];

export default function Health() {
  const health = useLive("GET /health", {}, { seconds: 10 });
  const { timeZone } = useMe().provider;
  return (
    <>
      <PageHead
        title={texts.shell.pages.health}
        lead={health.data && t.lead(formatSeconds(health.data.now, timeZone), timeZone)}
      />
      <StaleNote of={health} />
      <Loaded of={health}>{(shown) => <Shown health={shown} />}</Loaded>
    </>
  );
}

function Shown({ health }: { health: HealthData }) {
  const { database, figures, migrations, targets } = health;
  const isAway = database === "away";
  return (
    <>
      {isAway ? (
        <Note tone="danger">
          <p>{t.databaseAway}</p>
          <p>{t.databaseAdvice}</p>
        </Note>
      ) : (
        <>
          <LateServices />
          <Attention title={t.problems} nothing={t.allWell} advice={t.advice} />
        </>
      )}
      {figures === null ? (
        <EmptyState title={t.noFigures}>{t.noFiguresText}</EmptyState>
      ) : (
        <LastMinutes figures={figures} />
      )}
      <Grid wide>
        <Service health={health} />
        {!isAway && <Data health={health} />}
      </Grid>
      {!isAway && (
        <>
          <Card title={t.targets} actions={<LinkButton href="/targets">{t.toTargets}</LinkButton>}>
            <DataTable
              label={t.targets}
              columns={TARGET_COLUMNS}
              rows={targets}
              rowKey={({ name }) => name}
              rowHref={targetHref}
              empty={<EmptyState title={t.noTargets}>{t.noTargetsText}</EmptyState>}
            />
          </Card>
          <Card title={t.migrations}>
            <DataTable
              label={t.migrations}
              columns={MIGRATION_COLUMNS}
              rows={migrations}
              rowKey={({ name }) => name}
              empty={<EmptyState title={t.noMigrations} />}
            />
          </Card>
        </>
      )}
    </>
  );
}

/** Paid connections that may lack their service. */
function LateServices() {
  const { data } = useLive("GET /late-services", { environment: useEnvironment() }, { seconds: 30 });
  if (!data?.items.length) return null;
  return (
    <Card title={t.late}>
      <p>{t.lateCount(data.total, data.isCut, data.items.length)}</p>
      {data.items.map((service) => (
        <p key={connectionName(service)}>
          <Link href={customerHref(service)}>{connectionName(service)}</Link> {service.text}
        </p>
      ))}
    </Card>
  );
}

function Service({ health: { version, store, database, recordingFailsSince, figures } }: { health: HealthData }) {
  return (
    <Card title={t.service}>
      <KeyValue>
        <Fact label={t.version} value={version} />
        <Fact label={t.database} value={`${t.stores[store]} ${database === "away" ? t.away : t.answers}`} />
        <Fact
          label={t.recording}
          value={
            recordingFailsSince === null ? (
              t.recorded
            ) : (
              <>
                {t.notRecordedSince} <Time of={recordingFailsSince} />
              </>
            )
          }
        />
        {figures?.processes.map(({ role, count, unavailable }) => (
          <Fact key={role} label={t.roles[role] ?? role} value={t.running(count, unavailable)} />
        ))}
      </KeyValue>
    </Card>
  );
}

function Data({ health }: { health: HealthData }) {
  const { space, reportsBehindMs, lastImport, lastCheckAt, lastBackupAt, prunedBefore } = health;
  const size = (bytes: number | null | undefined) => (bytes == null ? t.notKnown : formatBytes(bytes));
  return (
    <Card title={t.data}>
      <KeyValue>
        <Fact label={t.size} value={size(space?.database)} />
        <Fact label={t.log} value={size(space?.log)} />
        <Fact label={t.free} value={size(space?.free)} />
        {reportsBehindMs !== null && <Fact label={t.reports} value={t.behind(inSeconds(reportsBehindMs))} />}
        <Fact
          label={t.lastImport}
          value={
            lastImport === null ? (
              t.noImport
            ) : (
              <>
                <WithAge of={lastImport.startedAt} /> {texts.imports.outcomes[lastImport.outcome]}
              </>
            )
          }
        />
        <Fact label={t.lastCheck} value={lastCheckAt === null ? t.noCheck : <WithAge of={lastCheckAt} />} />
        <Fact label={t.lastBackup} value={lastBackupAt === null ? t.noBackup : <WithAge of={lastBackupAt} />} />
        <Fact label={t.prunedBefore} value={<Time of={prunedBefore} none={t.notPruned} />} />
      </KeyValue>
      {lastBackupAt === null && <p className="muted">{t.noBackupText}</p>}
    </Card>
  );
}

function WithAge({ of }: { of: string }) {
  return (
    <>
      <Time of={of} /> (<Time of={of} age />)
    </>
  );
}

const TARGET_COLUMNS: readonly Column<Target>[] = [
  { header: texts.targets.name, cell: ({ name }) => name },
  { header: texts.targets.state, cell: (target) => <StateBadge target={target} /> },
  { header: texts.targets.behind, isNumber: true, cell: ({ behind }) => formatCount(behind) },
  { header: texts.targets.oldest, cell: ({ oldestAt }) => <Time of={oldestAt} age /> },
];

const MIGRATION_COLUMNS: readonly Column<Migration>[] = [
  { header: t.migration, cell: ({ name }) => name },
  {
    header: t.migrationState,
    cell: ({ state }) => (
      <Badge tone={state === "applied" ? "success" : "warning"}>{t.migrationStates[state] ?? state}</Badge>
    ),
  },
  { header: t.appliedAt, cell: ({ appliedAt }) => <Time of={appliedAt} /> },
];
