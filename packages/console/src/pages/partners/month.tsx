import { useApi } from "../../api/hooks.ts";
import { useInCurrency } from "../../api/session.tsx";
import { Bars, ShareBars } from "../../components/charts.tsx";
import { Amount, Grid, Stat } from "../../components/display.tsx";
import { useEnvironment } from "../../components/environment.tsx";
import { Loaded } from "../../components/states.tsx";
import { formatAmount, formatCount } from "../../format.ts";
import { listHref } from "../../links.ts";
import { texts } from "../../texts/index.ts";
import { failureBars } from "../overview/charts.tsx";

const t = texts.partners;

/** Top-ups and refused calls of a partner in the last 30 days. */
export function PartnerMonth({ name }: { name: string }) {
  const inCurrency = useInCurrency();
  const statistics = useApi("GET /statistics", { environment: useEnvironment(), partner: name });
  return (
    <Loaded of={statistics}>
      {({ days, total, byBouquet, failures }) => (
        <>
          <Grid>
            <Stat label={t.topUps} value={formatCount(total.topUps)} />
            <Stat label={t.amount} value={<Amount of={total.amount} />} />
            <Stat label={t.reversals} value={formatCount(total.reversals)} />
            <Stat label={t.reversedAmount} value={<Amount of={total.reversed} />} />
          </Grid>
          <Grid wide>
            <Bars
              title={t.byDay}
              labelHeader={t.day}
              valueHeader={t.topUps}
              bars={days.map(({ day, topUps }) => ({ label: day, value: topUps, text: formatCount(topUps) }))}
              tick={({ label }) => label.slice(5)}
            />
            <Bars
              title={t.amountByDay}
              labelHeader={t.day}
              valueHeader={inCurrency(t.amount)}
              bars={days.map(({ day, amount: of }) => ({ label: day, value: Number(of), text: formatAmount(of) }))}
              tick={({ label }) => label.slice(5)}
            />
            <ShareBars
              title={t.byBouquet}
              labelHeader={t.bouquet}
              valueHeader={inCurrency(t.amount)}
              bars={byBouquet.map(({ name: bouquet, amount: of }) => ({
                label: bouquet ?? t.otherBouquets,
                value: Number(of),
                text: formatAmount(of),
              }))}
            />
            <ShareBars
              title={t.failures}
              labelHeader={t.reason}
              valueHeader={t.calls}
              bars={failureBars(failures, (reason) => listHref("/refused-calls", { partner: name, reason }))}
            />
          </Grid>
        </>
      )}
    </Loaded>
  );
}
