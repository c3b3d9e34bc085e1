import { useApi } from "../../api/hooks.ts";
import { useMe } from "../../api/session.tsx";
import type { Health as HealthData, Target } from "../../api/staff-api.d.ts";
import { LinkButton } from "../../components/button.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Badge, Card, Fact, Grid, KeyValue, Time } from "../../components/display.tsx";
import { EmptyState, Loaded, Note, ReloadButton } from "../../components/states.tsx";
import { formatCount, formatTime } from "../../format.ts";
import { targetHref } from "../../links.ts";
import { PageHead } from "../../shell/page-head.tsx";
import { texts } from "../../texts/index.ts";
import { StateBadge } from "../targets/state.tsx";

const t = texts.health;

type Migration = HealthData["migrations"][number];

export default function Health() {
  const health = useApi("GET /health");
  return (
    <>
      <PageHead title={texts.shell.pages.health} lead={t.lead} actions={<ReloadButton of={health} />} />
      <Loaded of={health}>{(shown) => <Shown health={shown} />}</Loaded>
    </>
  );
}

function Shown({ health }: { health: HealthData }) {
  const { version, store, database, recordingFailsSince, lastBackupAt, prunedBefore, migrations, targets } = health;
  const isAway = database === "away";
  return (
    <>
      <Verdict health={health} />
      <ClockNote from={health.clockSetBackFrom} />
      <Grid wide>
        <Card title={t.service}>
          <KeyValue>
            <Fact label={t.version} value={version} />
            <Fact label={t.database} value={`${t.stores[store]} ${isAway ? t.away : t.answers}`} />
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
          </KeyValue>
        </Card>
        {!isAway && (
          <Card title={t.data}>
            <KeyValue>
              <Fact label={t.lastBackup} value={lastBackupAt === null ? t.noBackup : <WithAge of={lastBackupAt} />} />
              <Fact label={t.prunedBefore} value={<Time of={prunedBefore} none={t.notPruned} />} />
            </KeyValue>
            {lastBackupAt === null && <p className="muted">{t.noBackupText}</p>}
          </Card>
        )}
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

function Verdict({ health: { database, recordingFailsSince } }: { health: HealthData }) {
  const { timeZone } = useMe().provider;
  if (database === "ok" && recordingFailsSince === null) {
    return <Note tone="success">{t.allWell}</Note>;
  }
  return (
    <Note tone="danger">
      {database === "away" || recordingFailsSince === null ? (
        <p>{t.databaseAway}</p>
      ) : (
        <p>{t.recordingFails(formatTime(recordingFailsSince, timeZone))}</p>
      )}
      <p>{t.recordingAdvice}</p>
    </Note>
  );
}

function ClockNote({ from }: { from: string | null }) {
  const { timeZone } = useMe().provider;
  if (from === null) return null;
  return <Note tone="danger">{t.clockSetBack(formatTime(from, timeZone))}</Note>;
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
  {
    header: texts.targets.behind,
    isNumber: true,
    cell: ({ behind, failing, setAside }) => formatCount(behind + failing + setAside),
  },
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
