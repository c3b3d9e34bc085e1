import { useState } from "react";
import type { Service } from "../../api/names.ts";
import type { Bouquet, Catalogue } from "../../api/staff-api.d.ts";
import { TextInput } from "../../components/controls.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Amount, Badge, Card, Code, Time } from "../../components/display.tsx";
import { Field } from "../../components/form.tsx";
import { EmptyState } from "../../components/states.tsx";
import { texts } from "../../texts/index.ts";

const t = texts.catalogue;
const SERVICES: readonly Service[] = ["internet", "tv", "iptv"];

/** Bouquets of a revision, by service, in the partners' order. */
export function Bouquets({ catalogue: { revision, createdAt, bouquets } }: { catalogue: Catalogue }) {
  const [search, setSearch] = useState("");
  const found = bouquets.filter((bouquet) => matches(bouquet, search));
  return (
    <>
      <p className="muted">
        {revision !== null && t.revision(revision)}, {t.published} <Time of={createdAt} />, {t.countOf(bouquets.length)}
      </p>
      <search className="form-inline">
        <Field name="search" label={t.search} hint={t.searchHint}>
          <TextInput type="search" value={search} onChange={({ target }) => setSearch(target.value)} />
        </Field>
      </search>
      {found.length === 0 && <EmptyState title={t.noMatch}>{t.noMatchHint}</EmptyState>}
      {SERVICES.map((service) => {
        const own = found.filter((bouquet) => bouquet.service === service);
        if (own.length === 0) return null;
        return (
          <Card key={service} title={texts.common.services[service]}>
            <DataTable
              label={texts.common.services[service]}
              columns={COLUMNS}
              rows={own}
              rowKey={({ code }) => code}
              empty={null}
            />
          </Card>
        );
      })}
    </>
  );
}

const COLUMNS: readonly Column<Bouquet>[] = [
  { id: "code", header: t.code, cell: ({ code }) => <Code>{code}</Code>, sort: ({ code }) => code },
  {
    id: "name",
    header: t.name,
    cell: ({ name, addOn }) => (
      <span>
        {name} {addOn && <Badge>{t.addOn}</Badge>}
      </span>
    ),
    sort: ({ name }) => name,
  },
  { id: "plan", header: t.plan, cell: ({ plan }) => plan, sort: ({ plan }) => plan },
  {
    id: "period",
    header: t.period,
    cell: ({ months, days }) =>
      [months > 0 && t.months(months), days > 0 && t.days(days)].filter((each) => each !== false).join(", "),
    sort: ({ months, days }) => months * 31 + days,
  },
  { id: "segments", header: t.segments, cell: ({ segments }) => segments.join(", ") || t.everyone },
  {
    id: "price",
    header: t.price,
    cell: ({ price }) => <Amount of={price} />,
    sort: ({ price }) => Number(price),
    isNumber: true,
  },
];

function matches({ code, name, plan, segments }: Bouquet, search: string): boolean {
  const text = [code, name, plan, ...segments].join("\n").toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((part) => text.includes(part));
}
