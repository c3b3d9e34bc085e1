import type { FieldChange, RejectedLine } from "../api/staff-api.d.ts";
import { formatCount } from "../format.ts";
import { texts } from "../texts/index.ts";
import { Icon } from "./button.tsx";
import { LongTable } from "./data-table.tsx";

const t = texts.imports;

/** Values before and after, one per line. Empty values are left out. */
export function FieldChanges({ changes }: { changes: readonly FieldChange[] }) {
  return (
    <ul className="changes">
      {changes.map(({ field, from, to }) => (
        <li key={field}>
          <span className="muted">{field}</span>
          {from !== null && <del>{from}</del>}
          {from !== null && to !== null && <Icon name="arrow" />}
          {to !== null && <ins>{to}</ins>}
        </li>
      ))}
    </ul>
  );
}

/** Rejected lines of a file with their problems. */
export function RejectedLines({ lines }: { lines: readonly RejectedLine[] }) {
  return (
    <LongTable
      label={t.badLines}
      rows={lines}
      rowKey={({ line }) => String(line)}
      columns={[
        { header: t.line, cell: ({ line }) => formatCount(line) },
        {
          header: t.problems,
          isWide: true,
          cell: ({ problems }) => (
            <ul className="changes">
              {problems.map(({ field, problem }) => (
                <li key={`${field} ${problem}`}>
                  <span className="muted">{field}</span> {problem}
                </li>
              ))}
            </ul>
          ),
        },
      ]}
    />
  );
}
