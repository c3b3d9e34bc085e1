import {
  type ColumnDef,
  flexRender,
  getCoreRowModel,
  getSortedRowModel,
  type SortingState,
  useReactTable,
} from "@tanstack/react-table";
import { type KeyboardEvent, type ReactNode, useMemo, useState } from "react";
import { Link } from "wouter";
import type { Pages } from "../api/hooks.ts";
import type { ApiProblem } from "../api/problem.ts";
import { formatCount } from "../format.ts";
import { texts } from "../texts/index.ts";
import { Button, Icon } from "./button.tsx";
import { ErrorNote, Loaded, Loading } from "./states.tsx";

export interface Column<Row> {
  /** Unique in its table. */
  readonly header: string;
  readonly cell: (row: Row) => ReactNode;
  /** Sort value; set only if all rows are loaded. */
  readonly sort?: (row: Row) => string | number;
  /** Whether to align the cells to the right. */
  readonly isNumber?: boolean;
  /** Whether the cell gets its own line on a narrow page. */
  readonly isWide?: boolean;
  /** Whether only screen readers get the header, as for buttons. */
  readonly hideHeader?: boolean;
}

export interface DataTableProps<Row> {
  /** Accessible name of the table. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  /** Address of a row's page. The whole row is a link. */
  readonly rowHref?: (row: Row) => string;
  /** Replaces a table without rows, such as an EmptyState. */
  readonly empty?: ReactNode;
}

/** A table whose head stays visible. On a narrow page, each row is a card. */
export function DataTable<Row>({ label, columns, rows, rowKey, rowHref, empty }: DataTableProps<Row>) {
  const [sorting, setSorting] = useState<SortingState>([]);
  const definitions = useMemo(() => columns.map((column) => define(column)), [columns]);
  const table = useReactTable({
    data: rows as Row[],
    columns: definitions,
    state: { sorting },
    onSortingChange: setSorting,
    getRowId: (row) => rowKey(row),
    getCoreRowModel: getCoreRowModel(),
    getSortedRowModel: getSortedRowModel(),
  });
  if (rows.length === 0) return empty ?? null;
  return (
    <div className="table-frame">
      <table className="table" aria-label={label}>
        <thead>
          <tr>
            {table.getFlatHeaders().map(({ id, column }) => {
              const { header, isNumber, hideHeader } = columnOf(columns, id);
              const sorted = column.getIsSorted();
              return (
                <th
                  key={id}
                  scope="col"
                  className={isNumber ? "cell-number" : undefined}
                  aria-sort={sorted === "asc" ? "ascending" : sorted === "desc" ? "descending" : undefined}
                >
                  {column.getCanSort() ? (
                    <button type="button" className="sort" onClick={column.getToggleSortingHandler()}>
                      {header}
                      {sorted !== false && <Icon name={sorted === "asc" ? "up" : "down"} />}
                    </button>
                  ) : (
                    <span className={hideHeader ? "visually-hidden" : undefined}>{header}</span>
                  )}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody onKeyDown={walkRows}>
          {table.getRowModel().rows.map((row) => (
            <tr key={row.id} className={rowHref && "row-linked"}>
              {row.getVisibleCells().map(({ id, column, getContext }, index) => {
                const { header, isNumber, isWide, hideHeader } = columnOf(columns, column.id);
                const content = flexRender(column.columnDef.cell, getContext());
                return (
                  <td
                    key={id}
                    className={isNumber ? "cell-number" : isWide ? "cell-wide" : undefined}
                    data-label={hideHeader ? "" : header}
                  >
                    {rowHref !== undefined && index === 0 ? (
                      <Link href={rowHref(row.original)} className="row-link">
                        {content}
                      </Link>
                    ) : (
                      content
                    )}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A list that is loaded at once: a result of useApi. */
export interface WholeList<Row> {
  readonly data: { readonly items: readonly Row[] } | undefined;
  readonly error: ApiProblem | null;
  readonly refetch: () => unknown;
}

/** The table of a list that is loaded at once. */
export function LoadedTable<Row>({ list, ...table }: Omit<DataTableProps<Row>, "rows"> & { list: WholeList<Row> }) {
  return <Loaded of={list}>{({ items }) => <DataTable {...table} rows={items} />}</Loaded>;
}

/** The table of a paged list, with a button that loads more. */
export function PagedTable<Row>({ pages, ...table }: Omit<DataTableProps<Row>, "rows"> & { pages: Pages<Row> }) {
  if (pages.error !== null && pages.first === undefined)
    return <ErrorNote error={pages.error} onRetry={pages.reload} />;
  if (pages.first === undefined) return <Loading />;
  return (
    <>
      <DataTable {...table} rows={pages.items} />
      {pages.items.length > 0 && (
        <LoadMore
          count={pages.items.length}
          hasMore={pages.hasMore}
          busy={pages.isLoadingMore}
          onMore={pages.loadMore}
        />
      )}
      {pages.error !== null && <ErrorNote error={pages.error} />}
    </>
  );
}

interface LoadMoreProps {
  readonly count: number;
  readonly hasMore: boolean;
  readonly busy?: boolean;
  readonly onMore: () => void;
}

function LoadMore({ count, hasMore, busy = false, onMore }: LoadMoreProps) {
  const shown = formatCount(count);
  return (
    <div className="row load-more">
      <p className="muted" role="status">
        {hasMore ? texts.common.someShown(shown) : texts.common.allShown(shown)}
      </p>
      {hasMore && (
        <Button busy={busy} onClick={onMore}>
          {texts.common.loadMore}
        </Button>
      )}
    </div>
  );
}

function define<Row>({ header, cell, sort }: Column<Row>): ColumnDef<Row> {
  return {
    id: header,
    header,
    cell: ({ row }) => cell(row.original),
    enableSorting: sort !== undefined,
    sortDescFirst: false,
    ...(sort !== undefined && { accessorFn: sort }),
  };
}

function columnOf<Row>(columns: readonly Column<Row>[], id: string): Column<Row> {
  return columns.find(({ header }) => header === id) as Column<Row>;
}

/** Moves the focus from row to row with the arrow keys. */
function walkRows(event: KeyboardEvent<HTMLElement>): void {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (step === 0 || !(event.target instanceof HTMLAnchorElement)) return;
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>(".row-link")];
  const next = links[links.indexOf(event.target) + step];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}

const AT_ONCE = 200;

interface LongTableProps<Row> extends DataTableProps<Row> {
  readonly atOnce?: number;
}

/** A DataTable that shows many loaded rows step by step. Its columns have no `sort`. */
export function LongTable<Row>({ rows, atOnce = AT_ONCE, ...table }: LongTableProps<Row>) {
  const [most, setMost] = useState(atOnce);
  return (
    <>
      <DataTable {...table} rows={rows.slice(0, most)} />
      {rows.length > most && <LoadMore count={most} hasMore onMore={() => setMost(most + atOnce)} />}
    </>
  );
}
