import type { ServiceFigures } from "../../api/staff-api.d.ts";
import { ShareBars } from "../../components/charts.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Card, Grid, Stat } from "../../components/display.tsx";
import { EmptyState } from "../../components/states.tsx";
import { formatCount } from "../../format.ts";
import { texts } from "../../texts/index.ts";
import { failureBars } from "../overview/charts.tsx";

const t = texts.health;

/** Figures of all processes in the last minutes. */
export function LastMinutes({ figures }: { figures: ServiceFigures }) {
  const { seconds, topUps, answers, refusals, processes } = figures;
  const minutes = t.lastMinutes(Math.max(Math.round(seconds / 60), 1));
  const rate = (count: number) => ((count / seconds) * 60).toFixed(1);
  const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + count, 0);
  return (
    <>
      <Grid>
        <Stat label={t.topUpsAMinute} value={rate(topUps)} note={minutes} href="/transactions" />
        <Stat label={t.callsAMinute} value={rate(sum(answers.map(({ count }) => count)))} note={minutes} />
        <Stat
          label={t.refusedCalls}
          value={formatCount(sum(refusals.map(({ count }) => count)))}
          note={minutes}
          href="/refused-calls"
        />
        <Stat label={t.restarts} value={formatCount(sum(processes.map(({ restarts }) => restarts)))} />
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

const ms = (value: number) => t.milliseconds(formatCount(Number((value * 1_000).toPrecision(2))));

const COLUMNS: readonly Column<ServiceFigures["answers"][number]>[] = [
  {
    header: t.operation,
    cell: ({ operation }) => texts.refusedCalls.operations[operation] ?? operation,
  },
  { header: t.count, isNumber: true, cell: ({ count }) => formatCount(count) },
  { header: t.p50, isNumber: true, cell: ({ p50 }) => ms(p50) },
  { header: t.p99, isNumber: true, cell: ({ p99 }) => ms(p99) },
];
