import { useInCurrency } from "../../api/session.tsx";
import type { Share, Statistics, Sum } from "../../api/staff-api.d.ts";
import { type Bar, Bars, ShareBars } from "../../components/charts.tsx";
import { Grid } from "../../components/display.tsx";
import { formatAmount, formatCount } from "../../format.ts";
import { listHref } from "../../links.ts";
import { texts } from "../../texts/index.ts";
import type { Measure } from "./figures.tsx";

const t = texts.overview;
/** Refused calls are kept for so many days. */
const CALLS_KEPT_DAYS = 30;

interface ChartsProps {
  readonly statistics: Statistics;
  readonly measure: Measure;
}

/** Charts of today and of the period over time. Each bar leads to the list behind it. */
export function TimeCharts({ statistics: { hours, days }, measure }: ChartsProps) {
  const valueHeader = useValueHeader(measure);
  const today = days.at(-1)?.day;
  return (
    <Grid wide>
      <Bars
        title={t.hours}
        labelHeader={t.hour}
        valueHeader={valueHeader}
        bars={hours.map(({ hour, ...sum }) => ({
          label: `${String(hour).padStart(2, "0")}:00`,
          href: topUpsOf({ from: today, to: today }),
          ...measured(sum, measure),
        }))}
        tick={({ label }) => label.slice(0, 2)}
      />
      {days.length > 1 && (
        <Bars
          title={t.days(t.ofPeriod(days.length))}
          labelHeader={t.day}
          valueHeader={valueHeader}
          bars={days.map(({ day, ...sum }) => ({
            label: day,
            href: topUpsOf({ from: day, to: day }),
            ...measured(sum, measure),
          }))}
          tick={({ label }) => label.slice(5)}
        />
      )}
    </Grid>
  );
}

/** Charts of the shares of the period. Each bar leads to the list behind it. */
export function ShareCharts({ statistics, measure }: ChartsProps) {
  const { days, byService, byPartner, byBouquet, failures } = statistics;
  const valueHeader = useValueHeader(measure);
  const [from, to] = [days[0]?.day, days.at(-1)?.day];
  const period = t.ofPeriod(days.length);
  const callsPeriod = t.ofPeriod(Math.min(days.length, CALLS_KEPT_DAYS));
  return (
    <Grid wide>
      <ShareBars
        title={t.byService(period)}
        labelHeader={t.service}
        valueHeader={valueHeader}
        bars={sharesOf(byService, measure, ({ name }) => ({
          label: serviceName(name ?? ""),
          href: topUpsOf({ from, to, service: name ?? "" }),
        }))}
      />
      <ShareBars
        title={t.byPartner(period)}
        labelHeader={t.partner}
        valueHeader={valueHeader}
        bars={sharesOf(byPartner, measure, ({ name }) => ({
          label: name ?? "",
          href: topUpsOf({ from, to, partner: name ?? "" }),
        }))}
      />
      <ShareBars
        title={t.byBouquet(period)}
        labelHeader={t.bouquet}
        valueHeader={valueHeader}
        bars={sharesOf(byBouquet, measure, ({ name, service, bouquet }) =>
          name === null ? { label: t.others } : { label: name, href: topUpsOf({ from, to, service, bouquet }) },
        )}
      />
      <ShareBars
        title={t.failures(callsPeriod)}
        labelHeader={t.reason}
        valueHeader={t.calls}
        bars={failureBars(failures, (reason) => listHref("/refused-calls", { from, to, reason }))}
      />
    </Grid>
  );
}

function useValueHeader(measure: Measure): string {
  const inCurrency = useInCurrency();
  return measure === "amount" ? inCurrency(t.money) : t.topUps;
}

function topUpsOf(filters: Readonly<Record<string, string | undefined>>): string {
  return listHref("/transactions", filters);
}

/** Bars of refused calls by reason. */
export function failureBars(failures: Statistics["failures"], hrefOf: (reason: string) => string): Bar[] {
  const { reasons } = texts.refusedCalls;
  return failures.map(({ reason, count }) => ({
    label: reasons[reason] ?? reason,
    value: count,
    text: formatCount(count),
    href: hrefOf(reason),
  }));
}

function serviceName(name: string): string {
  const names: Readonly<Record<string, string>> = texts.common.services;
  return names[name] ?? name;
}

/** Shares, largest first, with the combined rest last. */
function sharesOf(
  shares: readonly Share[],
  measure: Measure,
  shown: (share: Share) => Pick<Bar, "label" | "href">,
): Bar[] {
  const bars = shares.map((share) => ({ isRest: share.name === null, ...shown(share), ...measured(share, measure) }));
  return bars.toSorted((a, b) => Number(a.isRest) - Number(b.isRest) || b.value - a.value);
}

/** The drawn number, and the text with all digits. */
function measured({ amount, topUps }: Sum, measure: Measure): Pick<Bar, "value" | "text"> {
  if (measure === "amount") return { value: Number(amount), text: formatAmount(amount) };
  return { value: topUps, text: formatCount(topUps) };
}
