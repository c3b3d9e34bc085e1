import { sumAmounts } from "../../amounts.ts";
import { useInCurrency } from "../../api/session.tsx";
import type { Share, Statistics } from "../../api/staff-api.d.ts";
import { type Bar, Bars, ShareBars } from "../../components/charts.tsx";
import { Amount, Grid, Stat } from "../../components/display.tsx";
import { formatAmount, formatCount } from "../../format.ts";
import { texts } from "../../texts/index.ts";

const t = texts.overview;

export function KeyFigures({ statistics: { days } }: { statistics: Statistics }) {
  const [today, yesterday] = [days.at(-1), days.at(-2)];
  const reversals = sumOf(days.map((day) => day.reversals));
  return (
    <Grid>
      <Taken label={t.figures.today} days={today ? [today] : []} />
      <Taken label={t.figures.yesterday} days={yesterday ? [yesterday] : []} />
      <Taken label={t.figures.month} days={days} />
      <Stat
        label={t.figures.reversals}
        value={formatCount(reversals)}
        note={
          reversals === 0 ? (
            t.figures.noneReversed
          ) : (
            <>
              <Amount of={sumAmounts(days.map(({ reversed }) => reversed))} /> {t.figures.reversed}
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
      note={t.figures.topUps(formatCount(sumOf(days.map(({ topUps }) => topUps))))}
    />
  );
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Unit of the charts: money or number of top-ups. */
type Measure = "amount" | "topUps";

interface ChartsProps {
  readonly statistics: Statistics;
  readonly measure: Measure;
}

export function Charts({ statistics, measure }: ChartsProps) {
  const { hours, days, byService, byPartner, byBouquet, failures } = statistics;
  const inCurrency = useInCurrency();
  const valueHeader = measure === "amount" ? inCurrency(t.money) : t.topUps;
  const barOf = (label: string, sum: Pick<Share, Measure>): Bar => ({ label, ...measured(sum, measure) });
  const services = byService.map((share) => ({ ...share, name: serviceName(share.name) }));
  return (
    <>
      <Grid wide>
        <Bars
          title={t.hours}
          labelHeader={t.hour}
          valueHeader={valueHeader}
          bars={hours.map(({ hour, ...sum }) => barOf(`${String(hour).padStart(2, "0")}:00`, sum))}
          tick={({ label }) => label.slice(0, 2)}
        />
        <Bars
          title={t.days}
          labelHeader={t.day}
          valueHeader={valueHeader}
          bars={days.map(({ day, ...sum }) => barOf(day, sum))}
          tick={({ label }) => label.slice(5)}
        />
      </Grid>
      <Grid wide>
        <ShareBars
          title={t.byService}
          labelHeader={t.service}
          valueHeader={valueHeader}
          bars={sharesOf(services, measure)}
        />
        <ShareBars
          title={t.byPartner}
          labelHeader={t.partner}
          valueHeader={valueHeader}
          bars={sharesOf(byPartner, measure)}
        />
        <ShareBars
          title={t.byBouquet}
          labelHeader={t.bouquet}
          valueHeader={valueHeader}
          bars={sharesOf(byBouquet, measure)}
        />
        <ShareBars title={t.failures} labelHeader={t.reason} valueHeader={t.calls} bars={failureBars(failures)} />
      </Grid>
    </>
  );
}

/** Bars of refused calls by reason. */
export function failureBars(failures: Statistics["failures"]): Bar[] {
  const { reasons } = texts.refusedCalls;
  return failures.map(({ reason, count }) => ({
    label: reasons[reason] ?? reason,
    value: count,
    text: formatCount(count),
  }));
}

function serviceName(name: string | null): string | null {
  const names: Readonly<Record<string, string>> = texts.common.services;
  return name === null ? null : (names[name] ?? name);
}

/** Shares, largest first, with the combined rest last. */
function sharesOf(shares: readonly Share[], measure: Measure): Bar[] {
  const all = shares.reduce((sum, share) => sum + measured(share, measure).value, 0);
  const bars = shares.map((share) => ({ name: share.name, ...measured(share, measure) }));
  bars.sort((a, b) => Number(a.name === null) - Number(b.name === null) || b.value - a.value);
  return bars.map(({ name, value, text }) => ({
    label: name ?? t.others,
    value,
    text: all === 0 ? text : t.share(text, Math.round((value / all) * 100)),
  }));
}

/** The drawn number, and the text with all digits. */
function measured({ amount, topUps }: Pick<Share, Measure>, measure: Measure): Pick<Bar, "value" | "text"> {
  if (measure === "amount") return { value: Number(amount), text: formatAmount(amount) };
  return { value: topUps, text: formatCount(topUps) };
}
