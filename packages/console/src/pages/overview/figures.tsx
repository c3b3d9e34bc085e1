import type { Statistics, Sum } from "../../api/staff-api.d.ts";
import { Amount, Badge, Grid, Stat } from "../../components/display.tsx";
import { countOf, formatChange, formatCount } from "../../format.ts";
import { listHref } from "../../links.ts";
import { texts } from "../../texts/index.ts";

const t = texts.overview.figures;

/** Unit of all figures: money or number of top-ups. */
export type Measure = "amount" | "topUps";

/** Money and number of the period, each compared with the same time one week ago. */
export function KeyFigures({ statistics, measure }: { statistics: Statistics; measure: Measure }) {
  const { days, total, weekAgo, refusedToday } = statistics;
  const [from, yesterday, today] = [days[0], days.at(-2), days.at(-1)];
  if (from === undefined || today === undefined) return null;
  const period = { from: from.day, to: today.day };
  const reversals = { topUps: total.reversals, amount: total.reversed };
  const toTopUps = (span: typeof period) => listHref("/transactions", span);
  const shown = (now: Sum, before: Sum) => ({
    value: measure === "amount" ? <Amount of={now.amount} /> : formatCount(now.topUps),
    note: <Change now={now} before={before} measure={measure} />,
  });
  return (
    <Grid>
      <Stat label={t.today} href={toTopUps({ from: today.day, to: today.day })} {...shown(today, weekAgo.today)} />
      {yesterday && (
        <Stat
          label={t.yesterday}
          href={toTopUps({ from: yesterday.day, to: yesterday.day })}
          {...shown(yesterday, weekAgo.yesterday)}
        />
      )}
      {yesterday && <Stat label={t.period(days.length)} href={toTopUps(period)} {...shown(total, weekAgo.period)} />}
      <Stat
        label={t.reversals(days.length)}
        href={listHref("/audit", { ...period, action: "transaction.reverse" })}
        {...shown(reversals, weekAgo.reversals)}
      />
      <Stat
        label={t.refusedToday}
        href={listHref("/refused-calls", { from: today.day, to: today.day })}
        value={<Amount of={refusedToday.amount} />}
        note={
          <>
            <span>{countOf(refusedToday.topUps, "top-up")}</span>
            <span>{t.refusedBy}</span>
          </>
        }
      />
    </Grid>
  );
}

function Change({ now, before, measure }: { now: Sum; before: Sum; measure: Measure }) {
  const change = formatChange(Number(now[measure]), Number(before[measure]));
  if (change === undefined) return t.noneWeekAgo;
  return (
    <>
      <Badge>{change}</Badge>
      <span>
        {t.from} {measure === "amount" ? <Amount of={before.amount} /> : formatCount(before.topUps)}
      </span>
    </>
  );
}
