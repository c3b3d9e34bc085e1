import type { ServiceFigures } from "../../api/staff-api.d.ts";
import { ShareBars } from "../../components/charts.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Card, Grid, Stat } from "../../components/display.tsx";
import { EmptyState } from "../../components/states.tsx";
import { formatCount, formatDuration } from "../../format.ts";
import { texts } from "../../texts/index.ts";
import { failureBars } from "../overview/charts.tsx";

const t = texts.health;

/** Figures of all processes in the last minutes. */
export function LastMinutes({ figures }: { figures: ServiceFigures }) {
  const { topUpsAMinute, callsAMinute, refused, allRestarts, answers, refusals } = figures;
  const note = t.lastMinutes(figures.minutes);
  return (
    <>
      <Grid>
        <Stat label={t.topUpsAMinute} value={topUpsAMinute.toFixed(1)} note={note} href="/transactions" />
        <Stat label={t.callsAMinute} value={callsAMinute.toFixed(1)} note={note} />
        <Stat label={t.refusedCalls} value={formatCount(refused)} note={note} href="/refused-calls" />
        <Stat label={t.restarts} value={formatCount(allRestarts)} />
      </Grid>
      <Card title={t.timeToAnswer}>
        <DataTable
          label={t.timeToAnswer}
          columns={COLUMNS}
          rows={answers}
          rowKey={({ operation }) => operation}
          empty={<EmptyState title={t.noAnswers} />}
        />
      </Card>
      {refusals.length > 0 && (
        <ShareBars
          title={t.refusals}
          labelHeader={texts.refusedCalls.reason}
          valueHeader={texts.overview.calls}
          bars={failureBars(refusals, (reason) => `/refused-calls?reason=${reason}`)}
        />
      )}
    </>
  );
}

const COLUMNS: readonly Column<ServiceFigures["answers"][number]>[] = [
  {
    header: t.operation,
    cell: ({ operation }) => texts.refusedCalls.operations[operation] ?? operation,
  },
  { header: t.count, isNumber: true, place: "hidden", cell: ({ count }) => formatCount(count) },
  { header: t.p50, isNumber: true, cell: ({ p50 }) => formatDuration(p50) },
  { header: t.p99, isNumber: true, cell: ({ p99 }) => formatDuration(p99) },
];
