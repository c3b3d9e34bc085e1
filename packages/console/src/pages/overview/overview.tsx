import { useLive } from "../../api/hooks.ts";
import { useMe } from "../../api/session.tsx";
import type { Statistics } from "../../api/staff-api.d.ts";
import { Choice } from "../../components/controls.tsx";
import { useEnvironment } from "../../components/environment.tsx";
import { useFilters } from "../../components/filters.tsx";
import { PageHead } from "../../components/page-head.tsx";
import { EmptyState, Loaded, StaleNote } from "../../components/states.tsx";
import { formatTime } from "../../format.ts";
import { FirstRun } from "../../setup/first-run.tsx";
import { texts } from "../../texts/index.ts";
import { Attention } from "./attention.tsx";
import { ShareCharts, TimeCharts } from "./charts.tsx";
import { KeyFigures } from "./figures.tsx";
import { LatestTopUps } from "./latest.tsx";

const t = texts.overview;
const USUAL_PERIOD = "30";

export default function Overview() {
  const environment = useEnvironment();
  const { timeZone } = useMe().provider;
  const [{ show, days }, setFilters] = useFilters(["show", "days"]);
  const measure = show === "topUps" ? "topUps" : "amount";
  const period = t.periods.find(([length]) => length === days)?.[0] ?? USUAL_PERIOD;
  const statistics = useLive("GET /statistics", { environment, days: Number(period) });
  return (
    <>
      <PageHead
        title={texts.shell.pages.overview}
        lead={statistics.data && t.lead(formatTime(statistics.data.until, timeZone))}
        actions={
          <>
            <Choice
              label={t.period}
              value={period}
              options={t.periods}
              onChoose={(next) => setFilters({ days: next === USUAL_PERIOD ? "" : next })}
            />
            <Choice
              label={t.show}
              value={measure}
              options={[
                ["amount", t.money],
                ["topUps", t.topUps],
              ]}
              onChoose={(next) => setFilters({ show: next === "amount" ? "" : next })}
            />
          </>
        }
      />
      <FirstRun />
      <Attention title={t.attention.title} nothing={t.attention.nothing} />
      <StaleNote of={statistics} />
      <Loaded of={statistics}>
        {(shown) =>
          isEmpty(shown) ? (
            <EmptyState title={t.nothingYet} />
          ) : (
            <>
              <KeyFigures statistics={shown} measure={measure} />
              <TimeCharts statistics={shown} measure={measure} />
              <LatestTopUps count={shown.days.at(-1)?.topUps ?? 0} />
              <ShareCharts statistics={shown} measure={measure} />
            </>
          )
        }
      </Loaded>
    </>
  );
}

function isEmpty({ total, failures }: Statistics): boolean {
  return failures.length === 0 && total.topUps === 0 && total.reversals === 0;
}
