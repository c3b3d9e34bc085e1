import type { Settlement } from "../../api/staff-api.d.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Amount, Code } from "../../components/display.tsx";
import { LongTable } from "../../components/long-table.tsx";
import { formatCount } from "../../format.ts";
import { texts } from "../../texts/index.ts";

const t = texts.settlement;

export type SettlementAmounts = Settlement["total"];
type SettlementLine = Settlement["lines"][number];

interface PartnerAmounts extends SettlementAmounts {
  readonly partner: string;
}

/** A row for each partner, and the total below. */
export function PartnersTable({ partners, total }: { partners: PartnerAmounts[]; total: SettlementAmounts }) {
  const isTotal = ({ partner }: PartnerAmounts) => partner === "";
  return (
    <DataTable
      label={t.byPartner}
      rows={partners.length === 1 ? partners : [...partners, { partner: "", ...total }]}
      rowKey={({ partner }) => partner}
      columns={[
        {
          id: "partner",
          header: t.partner,
          cell: (row) => (isTotal(row) ? <strong>{t.total}</strong> : row.partner),
        },
        ...amountColumns<PartnerAmounts>(isTotal),
      ]}
      empty={null}
    />
  );
}

export function LinesTable({ lines }: { lines: SettlementLine[] }) {
  const hasService = lines.some(({ service }) => service !== null);
  const hasBouquet = lines.some(({ bouquetId }) => bouquetId !== null);
  return (
    <LongTable
      label={t.byDay}
      atOnce={1_000}
      rows={lines}
      rowKey={({ day, partner, service, bouquetId }) => [day, partner, service, bouquetId].join(" ")}
      columns={[
        { id: "day", header: t.day, cell: ({ day }) => <span className="number">{day}</span> },
        { id: "partner", header: t.partner, cell: ({ partner }) => partner },
        ...(hasService ? [SERVICE] : []),
        ...(hasBouquet ? [BOUQUET] : []),
        ...amountColumns<SettlementLine>(() => false),
      ]}
      empty={null}
    />
  );
}

const SERVICE: Column<SettlementLine> = {
  id: "service",
  header: t.service,
  cell: ({ service }) => service && texts.common.services[service],
};

const BOUQUET: Column<SettlementLine> = {
  id: "bouquet",
  header: t.bouquet,
  cell: ({ bouquetId }) => <Code>{bouquetId}</Code>,
};

function amountColumns<Row extends SettlementAmounts>(isStrong: (row: Row) => boolean): Column<Row>[] {
  const column = (name: keyof SettlementAmounts): Column<Row> => ({
    id: name,
    header: t[name],
    cell: (row) => {
      const value = row[name];
      const shown = typeof value === "number" ? formatCount(value) : <Amount of={value} />;
      return isStrong(row) || name === "net" ? <strong>{shown}</strong> : shown;
    },
    isNumber: true,
  });
  return (["topUps", "gross", "reversals", "reversed", "net"] as const).map(column);
}
