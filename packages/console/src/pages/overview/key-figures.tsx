import { sumAmounts } from "../../amounts.ts";
import type { Statistics } from "../../api/staff-api.d.ts";
import { Amount, Grid, Stat } from "../../components/display.tsx";
import { formatCount } from "../../format.ts";
import { texts } from "../../texts/index.ts";

const t = texts.overview.figures;

export function KeyFigures({ statistics: { days } }: { statistics: Statistics }) {
  const [today, yesterday] = [days.at(-1), days.at(-2)];
  const reversals = sumOf(days.map((day) => day.reversals));
  return (
    <Grid>
      <Taken label={t.today} days={today ? [today] : []} />
      <Taken label={t.yesterday} days={yesterday ? [yesterday] : []} />
      <Taken label={t.month} days={days} />
      <Stat
        label={t.reversals}
        value={formatCount(reversals)}
        note={
          reversals === 0 ? (
            t.noneReversed
          ) : (
            <>
              <Amount of={sumAmounts(days.map(({ reversed }) => reversed))} /> {t.reversed}
            </>
          )
        }
      />
    </Grid>
  );
}

/** Revenue of the given days. */
function Taken({ label, days }: { label: string; days: Statistics["days"] }) {
  return (
    <Stat
      label={label}
      value={<Amount of={sumAmounts(days.map(({ amount }) => amount))} />}
      note={t.topUps(formatCount(sumOf(days.map(({ topUps }) => topUps))))}
    />
  );
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}
