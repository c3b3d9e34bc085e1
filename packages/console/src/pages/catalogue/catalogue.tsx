import { useApi, usePages } from "../../api/hooks.ts";
import { useMay } from "../../api/session.tsx";
import { LinkButton } from "../../components/button.tsx";
import { PagedTable } from "../../components/data-table.tsx";
import { Time } from "../../components/display.tsx";
import { useFilters } from "../../components/filters.tsx";
import { EmptyState, Loaded, Note } from "../../components/states.tsx";
import { Tabs } from "../../components/tabs.tsx";
import { formatCount } from "../../format.ts";
import { useEnvironment } from "../../shell/environment.tsx";
import { PageHead } from "../../shell/page-head.tsx";
import { texts } from "../../texts/index.ts";
import { Bouquets } from "./bouquets.tsx";
import { CatalogueUpload } from "./upload.tsx";

const t = texts.catalogue;

export default function Catalogue() {
  const mayPublish = useMay("administer");
  const [{ revision }] = useFilters(["revision"]);
  if (revision !== "") return <FormerRevision revision={Number(revision)} />;
  const parts = [
    { id: "now", label: t.now, content: <Current mayPublish={mayPublish} /> },
    { id: "revisions", label: t.revisions, content: <Revisions /> },
  ];
  const upload = { id: "upload", label: t.upload, content: <CatalogueUpload /> };
  return (
    <>
      <PageHead title={texts.shell.pages.catalogue} lead={t.lead} />
      <Tabs label={t.parts} tabs={mayPublish ? [...parts, upload] : parts} />
    </>
  );
}

function Current({ mayPublish }: { mayPublish: boolean }) {
  const catalogue = useApi("GET /catalogue", { environment: useEnvironment() });
  return (
    <Loaded of={catalogue}>
      {(found) =>
        found.revision === null ? (
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
          <Bouquets catalogue={found} />
        )
      }
    </Loaded>
  );
}

function FormerRevision({ revision }: { revision: number }) {
  const catalogue = useApi("GET /catalogue/revisions/:revision", { revision });
  return (
    <>
      <PageHead
        title={t.revision(revision)}
        up={{ href: "/catalogue?tab=revisions", title: texts.shell.pages.catalogue }}
        actions={<LinkButton href="/catalogue">{t.toNow}</LinkButton>}
      />
      <Note>{t.formerNote}</Note>
      <Loaded of={catalogue}>{(found) => <Bouquets catalogue={found} />}</Loaded>
    </>
  );
}

function Revisions() {
  const revisions = usePages("GET /catalogue/revisions", { environment: useEnvironment() });
  const [newest] = revisions.items;
  return (
    <PagedTable
      label={t.revisions}
      pages={revisions}
      rowKey={({ revision }) => String(revision)}
      rowHref={({ revision }) => (revision === newest?.revision ? "/catalogue" : `/catalogue?revision=${revision}`)}
      columns={[
        { id: "revision", header: t.revisions, cell: ({ revision }) => t.revision(revision) },
        { id: "at", header: t.at, cell: ({ createdAt }) => <Time of={createdAt} /> },
        {
          id: "bouquets",
          header: t.bouquets,
          cell: ({ bouquets }) => formatCount(bouquets),
          isNumber: true,
        },
      ]}
      empty={<EmptyState title={t.noRevisions}>{t.noRevisionsHint}</EmptyState>}
    />
  );
}
