import { sumAmounts } from "../../amounts.ts";
import { apiUrl } from "../../api/client.ts";
import { useApi } from "../../api/hooks.ts";
import { asInput } from "../../api/request.ts";
import { useMe } from "../../api/session.tsx";
import type { Settlement as SettlementData } from "../../api/staff-api.d.ts";
import { Button, DownloadButton } from "../../components/button.tsx";
import { Select } from "../../components/controls.tsx";
import { Amount, Card, Grid, Stat } from "../../components/display.tsx";
import { Filters, useFilters } from "../../components/filters.tsx";
import { Field } from "../../components/form.tsx";
import { EmptyState, Loaded, Note } from "../../components/states.tsx";
import { countOf, wallNow } from "../../format.ts";
import { useEnvironment } from "../../shell/environment.tsx";
import { PageHead } from "../../shell/page-head.tsx";
import { texts } from "../../texts/index.ts";
import { daysOf } from "./days.ts";
import { PERIOD_NAMES, PeriodFields } from "./period.tsx";
import { LinesTable, PartnersTable, type SettlementAmounts } from "./tables.tsx";

const t = texts.settlement;
const NAMES = ["partner", ...PERIOD_NAMES, "lines"] as const;

/** Amounts that partners owe, as a page to print. */
export default function Settlement() {
  const environment = useEnvironment();
  const { timeZone } = useMe().provider;
  const [values] = useFilters(NAMES);
  const today = wallNow(timeZone).slice(0, 10);
  const days = daysOf(values, today);
  const lines = values.lines || "partner";
  const detail = lines === "partner" ? "day" : lines;
  const query = { environment, ...days, ...asInput("GET /settlement", { partner: values.partner, detail }) };
  const settlement = useApi("GET /settlement", query);
  const partners = useApi("GET /partners");
  return (
    <>
      <PageHead
        title={texts.shell.pages.settlement}
        lead={[t.lead(days.from, days.to, timeZone), values.partner, environment === "trial" && t.trial]
          .filter(Boolean)
          .join(" · ")}
        actions={
          <>
            <DownloadButton href={apiUrl("GET /settlement.csv", query)}>{texts.common.download}</DownloadButton>
            <Button onClick={() => window.print()}>{texts.common.print}</Button>
          </>
        }
      />
      <Filters names={NAMES}>
        <PeriodFields today={today} chosen={values} />
        <Field name="partner" label={t.partner}>
          <Select
            key={partners.data?.items.length}
            options={(partners.data?.items ?? []).map(({ name }) => [name, name])}
            any={t.allPartners}
            defaultValue={values.partner}
          />
        </Field>
        <Field name="lines" label={t.lines}>
          <Select options={Object.entries(t.detail)} defaultValue={lines} />
        </Field>
      </Filters>
      <Loaded of={settlement}>{(found) => <Shown settlement={found} showsLines={lines !== "partner"} />}</Loaded>
    </>
  );
}

function Shown({ settlement, showsLines }: { settlement: SettlementData; showsLines: boolean }) {
  const { to, open, lines, total } = settlement;
  const isOwed = useEnvironment() === "production";
  return (
    <>
      {open && <Note tone="warning">{t.open(to)}</Note>}
      <Grid>
        <Stat label={t.gross} value={<Amount of={total.gross} />} note={countOf(total.topUps, t.topUp)} />
        <Stat label={t.reversed} value={<Amount of={total.reversed} />} note={countOf(total.reversals, t.reversal)} />
        <Stat label={t.net} value={<Amount of={total.net} />} note={isOwed && t.netNote} />
      </Grid>
      {lines.length === 0 ? (
        <EmptyState title={t.none}>{t.noneHint}</EmptyState>
      ) : (
        <Card title={t.byPartner}>
          <PartnersTable partners={sumByPartner(lines)} total={total} />
        </Card>
      )}
      {showsLines && lines.length > 0 && (
        <Card title={t.byDay}>
          <LinesTable lines={lines} />
        </Card>
      )}
    </>
  );
}

function sumByPartner(lines: SettlementData["lines"]): (SettlementAmounts & { partner: string })[] {
  return [...new Set(lines.map(({ partner }) => partner))].map((partner) => {
    const own = lines.filter((line) => line.partner === partner);
    const count = (of: "topUps" | "reversals") => own.reduce((all, line) => all + line[of], 0);
    const amount = (of: "gross" | "reversed" | "net") => sumAmounts(own.map((line) => line[of]));
    const counts = { topUps: count("topUps"), reversals: count("reversals") };
    return { partner, ...counts, gross: amount("gross"), reversed: amount("reversed"), net: amount("net") };
  });
}
