import { useState } from "react";
import { useLocation } from "wouter";
import { useApi, usePages } from "../../api/hooks.ts";
import type { Service } from "../../api/request.ts";
import { useMay } from "../../api/session.tsx";
import type { Bouquet, CurrentCatalogue } from "../../api/staff-api.d.ts";
import { Button, LinkButton } from "../../components/button.tsx";
import { type Column, DataTable, PagedTable } from "../../components/data-table.tsx";
import { Amount, Badge, Card, Code, Time } from "../../components/display.tsx";
import { useEnvironment } from "../../components/environment.tsx";
import { FilterBar, useFilters } from "../../components/filters.tsx";
import { PageHead } from "../../components/page-head.tsx";
import { EmptyState, Loaded, Note } from "../../components/states.tsx";
import { Tabs } from "../../components/tabs.tsx";
import { formatCount } from "../../format.ts";
import { texts } from "../../texts/index.ts";
import { CatalogueDiff } from "./diff.tsx";
import { BouquetDialog, RestoreDialog } from "./edit.tsx";
import { CatalogueUpload } from "./upload.tsx";
import { useWhyWaits, WaitingNote } from "./waiting.tsx";

const t = texts.catalogue;

export default function Catalogue() {
  const mayPublish = useMay("administer");
  const [{ revision }] = useFilters(["revision"]);
  const whyWaits = useWhyWaits();
  const [, navigate] = useLocation();
  if (revision !== "") return <PreviousRevision revision={Number(revision)} mayPublish={mayPublish} />;
  const parts = [
    { id: "now", label: t.now, content: <Current mayPublish={mayPublish} /> },
    { id: "revisions", label: t.revisions, content: <Revisions /> },
  ];
  const upload = { id: "upload", label: t.upload, content: <CatalogueUpload /> };
  return (
    <>
      <PageHead
        title={texts.shell.pages.catalogue}
        lead={t.lead}
        actions={
          mayPublish && (
            <Button why={whyWaits} onClick={() => navigate("/catalogue?add=bouquet")}>
              {t.add}
            </Button>
          )
        }
      />
      <Tabs label={t.parts} tabs={mayPublish ? [...parts, upload] : parts} />
    </>
  );
}

/** The current catalogue, and the dialog of the bouquet that the address names. */
function Current({ mayPublish }: { mayPublish: boolean }) {
  const catalogue = useApi("GET /catalogue", { environment: useEnvironment() });
  const [{ add, bouquet }, setOpen] = useFilters(["add", "bouquet"]);
  return (
    <Loaded of={catalogue}>
      {(found) => {
        const mayEdit = mayPublish && found.waiting === null;
        const opened = found.bouquets.find((each) => keyOf(each) === bouquet);
        return (
          <>
            {found.waiting !== null && <WaitingNote waiting={found.waiting} mayPublish={mayPublish} />}
            {found.revision === null ? (
              <EmptyState
                title={t.none}
                action={
                  mayPublish && (
                    <LinkButton href="/catalogue?tab=upload" kind="primary">
                      {t.upload}
                    </LinkButton>
                  )
                }
              >
                {t.noneHint}
              </EmptyState>
            ) : (
              <Bouquets catalogue={found} mayEdit={mayEdit} />
            )}
            {mayEdit && (add !== "" || opened !== undefined) && (
              <BouquetDialog
                bouquet={opened}
                baseRevision={found.revision ?? 0}
                onClose={() => setOpen({ add: "", bouquet: "" })}
              />
            )}
          </>
        );
      }}
    </Loaded>
  );
}

function PreviousRevision({ revision, mayPublish }: { revision: number; mayPublish: boolean }) {
  const catalogue = useApi("GET /catalogue/revisions/:revision", { revision });
  const current = useApi("GET /catalogue", { environment: useEnvironment() });
  const [isRestoring, setRestoring] = useState(false);
  const newest = current.data?.revision ?? null;
  const whyWaits = useWhyWaits();
  return (
    <>
      <PageHead
        title={t.revision(revision)}
        up={{ href: "/catalogue?tab=revisions", title: texts.shell.pages.catalogue }}
        actions={
          <>
            <LinkButton href="/catalogue">{t.toNow}</LinkButton>
            {mayPublish && newest !== null && (
              <Button why={whyWaits} onClick={() => setRestoring(true)}>
                {t.restore}
              </Button>
            )}
          </>
        }
      />
      <Loaded of={catalogue}>
        {(found) => (
          <>
            <Note>{t.stateNotes[found.state]}</Note>
            {found.change !== null && <CatalogueDiff change={found.change} />}
            <Bouquets catalogue={found} />
          </>
        )}
      </Loaded>
      {isRestoring && newest !== null && (
        <RestoreDialog revision={revision} baseRevision={newest} onClose={() => setRestoring(false)} />
      )}
    </>
  );
}

const TONES = { current: "success", previous: "neutral", waiting: "info", withdrawn: "neutral" } as const;

function Revisions() {
  const revisions = usePages("GET /catalogue/revisions", { environment: useEnvironment() });
  return (
    <PagedTable
      label={t.revisions}
      pages={revisions}
      rowKey={({ revision }) => String(revision)}
      rowHref={({ revision, state }) => (state === "current" ? "/catalogue" : `/catalogue?revision=${revision}`)}
      columns={[
        { header: t.revisions, cell: ({ revision }) => t.revision(revision) },
        { header: t.at, cell: ({ createdAt }) => <Time of={createdAt} exact /> },
        {
          header: t.state,
          cell: ({ state, from }) => (
            <>
              <Badge tone={TONES[state]}>{t.states[state]}</Badge> {from !== null && t.since(from)}
            </>
          ),
        },
        { header: t.bouquets, cell: ({ bouquets }) => formatCount(bouquets), isNumber: true },
        { header: t.author, cell: ({ author }) => author },
        { header: texts.common.reason, isWide: true, cell: ({ reason }) => reason },
      ]}
      empty={<EmptyState title={t.noRevisions}>{t.noRevisionsHint}</EmptyState>}
    />
  );
}

const SERVICES: readonly Service[] = ["internet", "tv", "iptv"];

const keyOf = ({ service, code }: Bouquet) => `${service}:${code}`;

interface BouquetsProps {
  readonly catalogue: Pick<CurrentCatalogue, "revision" | "createdAt" | "bouquets">;
  /** Whether a row opens the form of its bouquet. */
  readonly mayEdit?: boolean;
}

/** Bouquets of a revision, by service, in the partners' order. */
function Bouquets({ catalogue: { revision, createdAt, bouquets }, mayEdit = false }: BouquetsProps) {
  const [{ q, sort }] = useFilters(["q", "sort"]);
  const found = bouquets.filter((bouquet) => matches(bouquet, q));
  const rowHref = (bouquet: Bouquet) =>
    `/catalogue?${new URLSearchParams({ q, sort, bouquet: keyOf(bouquet) }).toString()}`;
  return (
    <>
      <p className="muted">
        {revision !== null && t.revision(revision)}, {t.published} <Time of={createdAt} />, {t.countOf(bouquets.length)}
      </p>
      <FilterBar filters={{ q: { label: t.search, hint: t.searchHint } }} />
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
              {...(mayEdit && { rowHref })}
            />
          </Card>
        );
      })}
    </>
  );
}

const COLUMNS: readonly Column<Bouquet>[] = [
  { header: t.code, cell: ({ code }) => <Code>{code}</Code>, sort: ({ code }) => code },
  {
    header: t.name,
    isWide: true,
    place: "name",
    cell: ({ name, addOn }) => (
      <span>
        {name} {addOn && <Badge>{t.addOn}</Badge>}
      </span>
    ),
    sort: ({ name }) => name,
  },
  { header: t.plan, place: "hidden", cell: ({ plan }) => plan, sort: ({ plan }) => plan },
  {
    header: t.period,
    cell: ({ months, days }) =>
      [months > 0 && t.months(months), days > 0 && t.days(days)].filter((each) => each !== false).join(", "),
    sort: ({ months, days }) => [months, days].map((each) => String(each).padStart(3, "0")).join(),
  },
  { header: t.segments, cell: ({ segments }) => segments.join(", ") || t.everyone },
  {
    header: t.price,
    cell: ({ price }) => <Amount of={price} bare />,
    sort: ({ price }) => Number(price),
    isAmount: true,
  },
];

function matches({ code, name, plan, segments }: Bouquet, search: string): boolean {
  const text = [code, name, plan, ...segments].join("\n").toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((part) => text.includes(part));
}
