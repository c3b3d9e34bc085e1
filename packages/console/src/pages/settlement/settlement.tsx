import { apiUrl } from "../../api/client.ts";
import { useApi } from "../../api/hooks.ts";
import { asInput } from "../../api/request.ts";
import { useMe } from "../../api/session.tsx";
import type { Settlement as SettlementData } from "../../api/staff-api.d.ts";
import { Button, DownloadButton } from "../../components/button.tsx";
import { type Column, DataTable, LongTable } from "../../components/data-table.tsx";
import { Amount, Card, Code, Fact, Grid, Stat, Tax } from "../../components/display.tsx";
import { useEnvironment } from "../../components/environment.tsx";
import { SelectFilter, useFilters, usePartnerOptions } from "../../components/filters.tsx";
import { PageHead } from "../../components/page-head.tsx";
import { EmptyState, Loaded, Note } from "../../components/states.tsx";
import { countOf, formatCount, periodName } from "../../format.ts";
import { texts } from "../../texts/index.ts";
import { PeriodHead, Signatures } from "./paper.tsx";
import { PERIOD_NAMES, PeriodFilters, periodInput } from "./period.tsx";

const t = texts.settlement;

const NAMES = ["partner", ...PERIOD_NAMES, "lines"] as const;

/** Amounts that partners owe, as a page to print. */
export default function Settlement() {
  const environment = useEnvironment();
  const { timeZone } = useMe().provider;
  const [values, setValues] = useFilters(NAMES);
  const lines = values.lines || "partner";
  const detail = lines === "partner" ? "day" : lines;
  const query = {
    environment,
    ...periodInput(values),
    ...asInput("GET /settlement", { partner: values.partner, detail }),
  };
  const settlement = useApi("GET /settlement", query);
  const partners = usePartnerOptions(values.partner);
  return (
    <>
      <PageHead
        title={texts.shell.pages.settlement}
        lead={
          settlement.data &&
          [
            t.lead(settlement.data.from, settlement.data.to, timeZone),
            values.partner,
            environment === "trial" && t.trial,
          ]
            .filter(Boolean)
            .join(" · ")
        }
        actions={
          <>
            <DownloadButton href={apiUrl("GET /settlement.csv", query)}>{texts.common.download}</DownloadButton>
            <Button onClick={() => window.print()}>{texts.common.print}</Button>
          </>
        }
      />
      <search className="filters">
        <PeriodFilters chosen={values} onApply={setValues} />
        <SelectFilter
          name="partner"
          label={t.partner}
          any={t.allPartners}
          value={values.partner}
          options={partners}
          onApply={setValues}
        />
        <SelectFilter
          name="lines"
          label={t.lines}
          value={lines}
          options={Object.entries(t.detail)}
          onApply={setValues}
        />
      </search>
      <Loaded of={settlement}>
        {(found) => (
          <>
            <PeriodHead title={texts.shell.pages.settlement} of={found} partner={values.partner}>
              <Fact label={t.nets[found.settledBy ?? "none"]} value={<Amount of={found.total.net} />} />
              <Tax of={found.total} as={Fact} />
            </PeriodHead>
            <Shown settlement={found} showsLines={lines !== "partner"} />
            {found.number !== null && <Signatures partner={values.partner} />}
          </>
        )}
      </Loaded>
    </>
  );
}

function Shown({ settlement, showsLines }: { settlement: SettlementData; showsLines: boolean }) {
  const { from, to, open, settledBy, byPartner, lines, total } = settlement;
  return (
    <>
      {open && <Note tone="warning">{t.open(periodName(from, to))}</Note>}
      <Grid>
        <Stat label={t.gross} value={<Amount of={total.gross} />} note={countOf(total.topUps, t.topUp)} />
        <Stat label={t.reversed} value={<Amount of={total.reversed} />} note={countOf(total.reversals, t.reversal)} />
        <Stat label={t.commission} value={<Amount of={total.commission} />} />
        <Stat label={t.net} value={<Amount of={total.net} />} note={settledBy && t.nets[settledBy]} />
        <Tax of={total} as={Stat} />
      </Grid>
      {lines.length === 0 ? (
        <EmptyState title={t.none}>{t.noneHint}</EmptyState>
      ) : (
        <Card title={t.byPartner}>
          <PartnersTable partners={byPartner} total={total} />
        </Card>
      )}
      {showsLines && lines.length > 0 && (
        <Card title={t.byDay}>
          <LinesTable lines={lines} total={total} />
        </Card>
      )}
    </>
  );
}

type SettlementAmounts = SettlementData["total"];
type AmountName = Exclude<keyof SettlementAmounts, "base" | "taxes">;
type SettlementLine = SettlementData["lines"][number];
type PartnerAmounts = SettlementData["byPartner"][number];

/** A row for each partner, and the total below. */
function PartnersTable({ partners, total }: { partners: readonly PartnerAmounts[]; total: SettlementAmounts }) {
  const isTotal = ({ partner }: PartnerAmounts) => partner === "";
  return (
    <DataTable
      label={t.byPartner}
      rows={partners.length === 1 ? partners : [...partners, { partner: "", ...total }]}
      rowKey={({ partner }) => partner}
      columns={[
        { header: t.partner, cell: (row) => (isTotal(row) ? <strong>{t.total}</strong> : row.partner) },
        ...amountColumns<PartnerAmounts>(isTotal),
      ]}
    />
  );
}

/** A row for each line, and the total below. */
function LinesTable({ lines, total }: { lines: SettlementLine[]; total: SettlementAmounts }) {
  const isTotal = ({ day }: SettlementLine) => day === "";
  const hasService = lines.some(({ service }) => service !== null);
  const hasPartners = lines.some(({ partner }) => partner !== lines[0]?.partner);
  const hasBouquet = lines.some(({ bouquetId }) => bouquetId !== null);
  return (
    <LongTable
      label={t.byDay}
      atOnce={1_000}
      rows={[...lines, { day: "", partner: "", service: null, bouquetId: null, ...total }]}
      rowKey={({ day, partner, service, bouquetId }) => [day, partner, service, bouquetId].join(" ")}
      columns={[
        {
          header: t.day,
          cell: (row) => (isTotal(row) ? <strong>{t.total}</strong> : <span className="number">{row.day}</span>),
        },
        ...(hasPartners ? [PARTNER] : []),
        ...(hasService ? [SERVICE] : []),
        ...(hasBouquet ? [BOUQUET] : []),
        ...amountColumns<SettlementLine>(isTotal),
      ]}
    />
  );
}

const PARTNER: Column<SettlementLine> = { header: t.partner, cell: ({ partner }) => partner };

const SERVICE: Column<SettlementLine> = {
  header: t.service,
  cell: ({ service }) => service && texts.common.services[service],
};

const BOUQUET: Column<SettlementLine> = { header: t.bouquet, cell: ({ bouquetId }) => <Code>{bouquetId}</Code> };

/** Amounts that explain the net of a partner on a telephone. */
const ON_TELEPHONE: readonly AmountName[] = ["reversed", "commission", "net"];

function amountColumns<Row extends SettlementAmounts>(isStrong: (row: Row) => boolean): Column<Row>[] {
  const column = (name: AmountName): Column<Row> => ({
    header: t[name],
    cell: (row) => {
      const value = row[name];
      const shown = typeof value === "number" ? formatCount(value) : <Amount of={value} bare />;
      return isStrong(row) || name === "net" ? <strong>{shown}</strong> : shown;
    },
    ...(!ON_TELEPHONE.includes(name) && { place: "hidden" }),
    isNumber: true,
    isAmount: name !== "topUps" && name !== "reversals",
  });
  return (["topUps", "gross", "reversals", "reversed", "commission", "net"] as const).map(column);
}
