import { Link } from "wouter";
import { useApi, useLive } from "../../api/hooks.ts";
import { useMe } from "../../api/session.tsx";
import type { AttentionItem, Statistics } from "../../api/staff-api.d.ts";
import { LinkButton } from "../../components/button.tsx";
import { Choice } from "../../components/controls.tsx";
import { Card } from "../../components/display.tsx";
import { useFilters } from "../../components/filters.tsx";
import { EmptyState, Loaded, Note } from "../../components/states.tsx";
import { countOf, formatAge, formatTime } from "../../format.ts";
import { partnerHref, targetHref } from "../../links.ts";
import { useEnvironment } from "../../shell/environment.tsx";
import { PageHead } from "../../shell/page-head.tsx";
import { texts } from "../../texts/index.ts";
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
                <KeyFigures statistics={shown} measure={measure} />
                <TimeCharts statistics={shown} measure={measure} />
                <LatestTopUps count={shown.days.at(-1)?.topUps ?? 0} />
                <ShareCharts statistics={shown} measure={measure} />
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

/** Open problems, each with a link to the page that fixes it. */
function Attention() {
  const environment = useEnvironment();
  const attention = useApi("GET /attention", { environment });
  return (
    <Card title={t.attention.title}>
      <Loaded of={attention}>
        {({ items }) =>
          items.length === 0 ? (
            <Note tone="success">{t.attention.nothing}</Note>
          ) : (
            items.map((item) => <Item key={`${item.kind} ${item.subject} ${item.at}`} item={item} />)
          )
        }
      </Loaded>
    </Card>
  );
}

function Item({ item }: { item: AttentionItem }) {
  const { timeZone } = useMe().provider;
  const { text, href, link } = describe(item, timeZone);
  return (
    <Note tone={item.kind === "recording_fails" ? "danger" : "warning"}>
      <p>
        {text} <Link href={href}>{link}</Link>
      </p>
    </Note>
  );
}

interface Described {
  readonly text: string;
  /** Page that fixes the problem. */
  readonly href: string;
  readonly link: string;
}

function describe({ kind, count, subject, at }: AttentionItem, timeZone: string): Described {
  const words = t.attention;
  const name = subject ?? "";
  const age = at === null ? "" : formatAge(at);
  const events = countOf(count ?? 0, "event");
  const toTarget = { href: targetHref({ name }), link: words.toTarget };
  const toHealth = { href: "/health", link: words.toHealth };
  switch (kind) {
    case "recording_fails":
      return { text: words.recording_fails(at === null ? "" : formatTime(at, timeZone)), ...toHealth };
    case "failed_deliveries":
      return { text: words.failed_deliveries(events, name), ...toTarget };
    case "target_behind":
      return { text: words.target_behind(events, name, age), ...toTarget };
    case "held_back":
      return {
        text: words.held_back(countOf(count ?? 0, "subscription")),
        href: "/imports?tab=held-back",
        link: words.toHeldBack,
      };
    case "token_ending":
      return { text: words.token_ending(name, age), href: partnerHref({ name }), link: words.toPartner };
    case "no_backup":
      return { text: at === null ? words.noBackupEver : words.no_backup(age), ...toHealth };
  }
}
