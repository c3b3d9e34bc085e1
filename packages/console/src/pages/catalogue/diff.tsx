import type { CatalogueChange } from "../../api/staff-api.d.ts";
import { Checkbox } from "../../components/controls.tsx";
import { type Column, LongTable } from "../../components/data-table.tsx";
import { Badge, Code } from "../../components/display.tsx";
import { FieldChanges } from "../../components/file-check.tsx";
import { Note } from "../../components/states.tsx";
import { texts } from "../../texts/index.ts";

const t = texts.catalogue;

type ChangedBouquet = CatalogueChange["bouquets"][number];

export function isSame({ added, changed, removed, reorders }: CatalogueChange): boolean {
  return added === 0 && changed === 0 && removed === 0 && !reorders;
}

interface LargeChangeProps {
  readonly change: CatalogueChange;
  readonly isAllowed: boolean;
  readonly onAllow: (isAllowed: boolean) => void;
}

/** Warns of a large change, and asks for it to be allowed. */
export function LargeChange({ change: { largeChange }, isAllowed, onAllow }: LargeChangeProps) {
  if (largeChange === null) return null;
  return (
    <Note tone="warning">
      <p>{t.large(largeChange.count, largeChange.of)}</p>
      <Checkbox
        name="allowLargeChange"
        label={t.allowLarge}
        checked={isAllowed}
        onChange={({ target }) => onAllow(target.checked)}
      />
    </Note>
  );
}

/** Each bouquet that changes, with warnings. `narrow`: in a dialog. */
export function CatalogueDiff({
  change: { bouquets, reorders, warnings },
  narrow = false,
}: {
  change: Pick<CatalogueChange, "bouquets" | "reorders" | "warnings">;
  narrow?: boolean;
}) {
  return (
    <>
      {warnings.length > 0 && (
        <Note tone="warning">
          <ul>
            {warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </Note>
      )}
      {reorders && <Note>{t.reorders}</Note>}
      <LongTable
        label={t.changes}
        columns={narrow ? NARROW_COLUMNS : COLUMNS}
        rows={bouquets}
        rowKey={({ service, code }) => `${service} ${code}`}
      />
    </>
  );
}

const TONES = { added: "success", changed: "info", removed: "danger" } as const;

const KIND: Column<ChangedBouquet> = {
  header: t.kind,
  cell: ({ kind }) => <Badge tone={TONES[kind]}>{t[kind]}</Badge>,
};
const CODE: Column<ChangedBouquet> = { header: t.code, cell: ({ code }) => <Code>{code}</Code> };
const CHANGES: Column<ChangedBouquet> = {
  header: t.changes,
  cell: ({ fields }) => <FieldChanges changes={fields} />,
};

const COLUMNS: readonly Column<ChangedBouquet>[] = [
  KIND,
  { header: t.service, cell: ({ service }) => texts.common.services[service] },
  CODE,
  CHANGES,
];
const NARROW_COLUMNS: readonly Column<ChangedBouquet>[] = [
  {
    header: t.code,
    cell: (bouquet) => (
      <>
        {CODE.cell(bouquet)} {KIND.cell(bouquet)}
      </>
    ),
  },
  CHANGES,
];
