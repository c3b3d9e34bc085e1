import { usePoll } from "../../api/hooks.ts";
import { useMe } from "../../api/session.tsx";
import type { Statistics } from "../../api/staff-api.d.ts";
import { LinkButton } from "../../components/button.tsx";
import { Choice } from "../../components/choice.tsx";
import { useFilters } from "../../components/filters.tsx";
import { EmptyState, Loaded, Note } from "../../components/states.tsx";
import { formatTime } from "../../format.ts";
import { useEnvironment } from "../../shell/environment.tsx";
import { PageHead } from "../../shell/page-head.tsx";
import { texts } from "../../texts/index.ts";
import { Attention } from "./attention.tsx";
import { Charts } from "./charts.tsx";
import { KeyFigures } from "./key-figures.tsx";

const t = texts.overview;

export default function Overview() {
  const environment = useEnvironment();
  const { timeZone } = useMe().provider;
  const statistics = usePoll("GET /statistics", { environment }, ({ complete }) => complete);
  const [{ show }, setFilters] = useFilters(["show"]);
  const measure = show === "topUps" ? "topUps" : "amount";
  return (
    <>
      <PageHead
        title={texts.shell.pages.overview}
        lead={statistics.data && t.lead(formatTime(statistics.data.until, timeZone))}
        actions={
          <Choice
            label={t.show}
            value={measure}
            options={[
              ["amount", t.money],
              ["topUps", t.topUps],
            ]}
            onChoose={(next) => setFilters({ show: next === "amount" ? "" : next })}
          />
        }
      />
      <Attention />
      <Loaded of={statistics}>
        {(shown) => (
          <>
            {!shown.complete && (
              <Note>
                <p role="status">{t.gathering}</p>
              </Note>
            )}
            {shown.complete && isEmpty(shown) ? (
              <GettingStarted />
            ) : (
              <>
                <KeyFigures statistics={shown} />
                <Charts statistics={shown} measure={measure} />
              </>
            )}
          </>
        )}
      </Loaded>
    </>
  );
}

function isEmpty({ days, failures }: Statistics): boolean {
  return failures.length === 0 && days.every(({ topUps, reversals }) => topUps + reversals === 0);
}

function GettingStarted() {
  const links = (
    <div className="row">
      <LinkButton href="/catalogue">{t.toCatalogue}</LinkButton>
      <LinkButton href="/imports">{t.toImports}</LinkButton>
      <LinkButton href="/partners">{t.toPartners}</LinkButton>
    </div>
  );
  return (
    <EmptyState title={t.nothingYet} action={links}>
      {t.nothingYetText}
    </EmptyState>
  );
}
