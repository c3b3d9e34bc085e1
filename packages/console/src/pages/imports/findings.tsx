import type { ComponentProps } from "react";
import { Link } from "wouter";
import type { Upload } from "../../api/staff-api.d.ts";
import { Select } from "../../components/controls.tsx";
import { type Column, LongTable } from "../../components/data-table.tsx";
import { Badge, Code, Time, unbroken } from "../../components/display.tsx";
import { FieldChanges, RejectedLines } from "../../components/file-check.tsx";
import { Field } from "../../components/form.tsx";
import { EmptyState } from "../../components/states.tsx";
import { Tabs } from "../../components/tabs.tsx";
import { formatCount, minuteOf } from "../../format.ts";
import { customerHref, transactionHref } from "../../links.ts";
import { texts } from "../../texts/index.ts";
import { isUnderWay } from "../../work-states.ts";

const t = texts.imports;

type ChangedCustomer = Upload["changes"][number];
type HeldBackLine = Upload["heldBack"][number];

/** Changes and problems of a file, the first thousand of each. A refused file has only problems. */
export function UploadFindings({ upload }: { upload: Upload }) {
  const { state, problems, heldBack, warnings, changes, allChanges, report } = upload;
  const isRefused = state === "refused";
  const rejected = report?.["rejected"] ?? problems.length;
  const parts = [
    {
      id: "bad",
      title: t.badLines,
      shown: problems.length,
      of: rejected,
      text: !isRefused && t.leftOut(rejected, formatCount(rejected)),
      table: <RejectedLines lines={problems} />,
    },
    {
      id: "held-back",
      title: t.heldBack,
      shown: heldBack.length,
      of: report?.["heldBack"] ?? 0,
      text: `${state === "done" ? "" : t.heldBackAfter} ${t.heldBackTodo}`,
      table: <LongTable label={t.heldBack} rows={heldBack} columns={HELD_BACK} rowKey={heldBackKey} />,
    },
    {
      id: "warnings",
      title: t.warnings,
      shown: warnings.length,
      of: warnings.length,
      text: false,
      table: (
        <LongTable
          label={t.warnings}
          rows={warnings}
          columns={[LINE, CUSTOMER, WARNING]}
          rowKey={({ line, problem }) => `${line} ${problem}`}
        />
      ),
    },
    {
      id: "changes",
      title: t.changes,
      shown: changes.length,
      of: allChanges,
      text: false,
      table: (
        <LongTable
          label={t.changes}
          rows={changes}
          columns={[LINE, CUSTOMER, ...CHANGE_COLUMNS]}
          rowKey={({ line, cuid }) => `${line} ${cuid}`}
        />
      ),
    },
  ].filter(({ id, shown }) => shown > 0 && (!isRefused || id === "bad"));
  if (isUnderWay(state)) return null;
  if (parts.length === 0) {
    return state === "refused" ? null : <EmptyState title={t.noChanges}>{t.noChangesHint}</EmptyState>;
  }
  return (
    <Tabs
      label={t.findings}
      tabs={parts.map(({ id, title, shown, of, text, table }) => ({
        id,
        label: `${title} (${formatCount(Math.max(shown, of))})`,
        content: (
          <>
            {text && <p>{text}</p>}
            {of > shown && <p className="muted">{t.first(formatCount(shown))}</p>}
            {table}
          </>
        ),
      }))}
    />
  );
}

const LINE: Column<{ readonly line: number }> = { header: t.line, cell: ({ line }) => formatCount(line) };

const CUSTOMER: Column<{ readonly cuid: string }> = {
  header: t.customer,
  cell: ({ cuid }) => <Link href={customerHref({ cuid })}>{cuid}</Link>,
};

export const CONNECTION: Column<Pick<HeldBackLine, "service" | "reqId">> = {
  header: t.connection,
  cell: ({ service, reqId }) => (
    <span>
      {texts.common.services[service]} <Code>{reqId}</Code>
    </span>
  ),
};

const WARNING: Column<Upload["warnings"][number]> = { header: t.warning, isWide: true, cell: ({ problem }) => problem };

const CHANGE_COLUMNS: readonly Column<ChangedCustomer>[] = [
  { header: t.change, cell: ({ kind }) => <Badge tone={kind === "added" ? "success" : "info"}>{t[kind]}</Badge> },
  { header: t.values, isWide: true, cell: ({ changes }) => <FieldChanges changes={changes} /> },
];

export const BOUQUET: Column<HeldBackLine> = {
  header: t.bouquet,
  cell: ({ bouquetId }) => <Code>{bouquetId}</Code>,
};
export const KEPT_END: Column<HeldBackLine> = {
  header: t.keptEnd,
  cell: ({ keptEnd }) => <KeptEnd of={keptEnd} />,
};
export const KEPT_BY: Column<HeldBackLine> = {
  header: t.keptBy,
  isWide: true,
  cell: ({ txnId, rowEnd, goodwillDays, goodwill }) =>
    rowEnd !== null ? (
      <>
        {txnId !== null && <Link href={transactionHref({ txnId })}>{t.topUp}</Link>}{" "}
        {unbroken(t.neitherBook(minuteOf(rowEnd)))}
      </>
    ) : goodwill !== null ? (
      unbroken(t.goodwillUnclear(formatCount(goodwill.days), goodwill.at.slice(0, 10)))
    ) : goodwillDays !== null ? (
      t.goodwillDays(formatCount(goodwillDays))
    ) : txnId === null ? (
      t.goodwill
    ) : (
      <Link href={transactionHref({ txnId })}>{t.topUp}</Link>
    ),
};
export const STATED_END: Column<HeldBackLine> = {
  header: t.statedEnd,
  isWide: true,
  cell: (held) => <StatedEnd of={held} />,
};

const HELD_BACK: readonly Column<HeldBackLine>[] = [LINE, CUSTOMER, CONNECTION, BOUQUET, KEPT_END, KEPT_BY, STATED_END];

/** Two ends if it is unclear whether the file holds goodwill. */
export function StatedEnd({ of }: { of: Pick<HeldBackLine, "statedEnd" | "rowEnd" | "goodwill"> }) {
  const { statedEnd, rowEnd, goodwill } = of;
  if (statedEnd === null && rowEnd === null && goodwill === null) return t.notInFile;
  if (goodwill === null) return <KeptEnd of={statedEnd} />;
  return (
    <>
      <KeptEnd of={statedEnd} /> {t.ifHeld}, <KeptEnd of={goodwill.lackingEnd} /> {t.ifLacking}
    </>
  );
}

export function KeptEnd({ of }: { of: string | null }) {
  return of === null ? t.nothingKept : <Time of={of} />;
}

/** The question whether the records hold goodwill. Value: a GoodwillReading, or "" if unknown. */
export function GoodwillQuestion({
  count,
  ...rest
}: { count: number } & Omit<ComponentProps<typeof Select>, "options" | "any">) {
  return (
    <Field name="goodwill" label={t.goodwillQuestion} hint={t.goodwillHint(count, formatCount(count))}>
      <Select {...rest} any={t.goodwillUnknown} options={GOODWILL_READINGS} />
    </Field>
  );
}

const GOODWILL_READINGS = [
  ["held", t.goodwillHeld],
  ["lacking", t.goodwillLacking],
] as const;

export function heldBackKey({ line, service, reqId, plan }: HeldBackLine): string {
  return `${line} ${service} ${reqId} ${plan}`;
}
