import { useState } from "react";
import { useApi } from "../../api/hooks.ts";
import { useMay } from "../../api/session.tsx";
import type { Target } from "../../api/staff-api.d.ts";
import { Button } from "../../components/button.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Time } from "../../components/display.tsx";
import { EmptyState, Loaded } from "../../components/states.tsx";
import { formatCount } from "../../format.ts";
import { PageHead } from "../../shell/page-head.tsx";
import { texts } from "../../texts/index.ts";
import { AddTarget } from "./add-target.tsx";
import { kindOf, StateBadge, stateOf, targetPath } from "./state.tsx";

const t = texts.targets;

const COLUMNS: readonly Column<Target>[] = [
  { id: "name", header: t.name, cell: ({ name }) => name, sort: ({ name }) => name },
  { id: "kind", header: t.kind, cell: kindOf, sort: ({ kind }) => kind },
  { id: "state", header: t.state, cell: (target) => <StateBadge target={target} />, sort: stateOf },
  ...(["behind", "failing", "setAside"] as const).map(
    (id): Column<Target> => ({
      ...{ id, header: t[id], isNumber: true },
      cell: (target) => formatCount(target[id]),
      sort: (target) => target[id],
    }),
  ),
  { id: "oldest", header: t.oldest, cell: ({ oldestAt }) => <Time of={oldestAt} age /> },
];

export default function Targets() {
  const targets = useApi("GET /targets");
  const mayAdd = useMay("administer");
  const [adding, setAdding] = useState(false);
  const add = mayAdd && (
    <Button kind="primary" onClick={() => setAdding(true)}>
      {t.add}
    </Button>
  );
  return (
    <>
      <PageHead title={texts.shell.pages.targets} lead={t.lead} actions={add} />
      <Loaded of={targets}>
        {({ items }) => (
          <DataTable
            label={t.list}
            columns={COLUMNS}
            rows={items}
            rowKey={({ name }) => name}
            rowHref={targetPath}
            empty={<EmptyState title={t.emptyTitle}>{mayAdd ? t.empty : t.emptyReader}</EmptyState>}
          />
        )}
      </Loaded>
      <AddTarget open={adding} onOpenChange={setAdding} />
    </>
  );
}
