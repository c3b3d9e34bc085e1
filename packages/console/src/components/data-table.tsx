import {
  type ColumnDef,
  flexRender,
  getCoreRowModel,
  getSortedRowModel,
  type SortingState,
  useReactTable,
} from "@tanstack/react-table";
import { type CSSProperties, type KeyboardEvent, type ReactNode, type SyntheticEvent, useMemo, useState } from "react";
import { Link } from "wouter";
import type { Pages } from "../api/hooks.ts";
import type { ApiProblem } from "../api/problem.ts";
import { useMe } from "../api/session.tsx";
import { formatCount } from "../format.ts";
import { texts } from "../texts/index.ts";
import { Button, Icon } from "./button.tsx";
import { useFilters } from "./filters.tsx";
import { ErrorNote, Loaded, Loading } from "./states.tsx";

export interface Column<Row> {
  /** Unique in its table. */
  readonly header: string;
  readonly cell: (row: Row) => ReactNode;
  /** Sort value; set only if all rows are loaded. */
  readonly sort?: (row: Row) => string | number;
  /** Whether to align the cells to the right. */
  readonly isNumber?: boolean;
  /** Whether the cells are amounts: the header names the currency. */
  readonly isAmount?: boolean;
  /** Whether the cell gets the remaining width, for sentences and lists. */
  readonly isWide?: boolean;
  /** On a telephone: the cell that begins a row (usually the first), ends its first line (the last amount), or is hidden. */
  readonly place?: "name" | "amount" | "hidden";
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

/**
 * A table whose head stays visible, with one line for each row if its texts are not long; on a narrow page two: name and
 * amount, then the rest. The address keeps the sorted column; tables of one page that share a header are sorted together.
 */
export function DataTable<Row>({ label, columns, rows, rowKey, rowHref, empty }: DataTableProps<Row>) {
  const { currency } = useMe().provider;
  const [{ sort }, setFilters] = useFilters(["sort"]);
  const sorting = useMemo(() => sortingOf(sort, columns), [sort, columns]);
  const definitions = useMemo(() => columns.map((column) => define(column)), [columns]);
  const table = useReactTable({
    data: rows as Row[],
    columns: definitions,
    state: { sorting },
    onSortingChange: (change) => {
      const [first] = typeof change === "function" ? change(sorting) : change;
      setFilters({ sort: first === undefined ? "" : `${first.desc ? "-" : ""}${first.id}` });
    },
    getRowId: (row) => rowKey(row),
    getCoreRowModel: getCoreRowModel(),
    getSortedRowModel: getSortedRowModel(),
  });
  if (rows.length === 0) return empty ?? null;
  const classOf = classesOf(columns);
  return (
    <div className="table-frame">
      <table className="table" aria-label={label} style={{ "--columns": columns.length } as CSSProperties}>
        <thead>
          <tr>
            {table.getFlatHeaders().map(({ id, column }) => {
              const of = columnOf(columns, id);
              const header = headerOf(of, currency);
              const sorted = column.getIsSorted();
              return (
                <th
                  key={id}
                  scope="col"
                  className={classOf(of)}
                  aria-sort={sorted === "asc" ? "ascending" : sorted === "desc" ? "descending" : undefined}
                >
                  {column.getCanSort() ? (
                    <button type="button" className="sort" onClick={column.getToggleSortingHandler()}>
                      {header}
                      {sorted !== false && <Icon name={sorted === "asc" ? "up" : "down"} />}
                    </button>
                  ) : (
                    <span className={of.hideHeader ? "visually-hidden" : undefined}>{header}</span>
                  )}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody onKeyDown={walkRows} onMouseOver={showCutText} onFocus={showCutText}>
          {table.getRowModel().rows.map((row) => (
            <tr key={row.id} className={rowHref && "row-linked"}>
              {row.getVisibleCells().map(({ id, column, getContext }, index) => {
                const of = columnOf(columns, column.id);
                const content = flexRender(column.columnDef.cell, getContext());
                return (
                  <td key={id} className={classOf(of)} data-label={of.hideHeader ? undefined : of.header}>
                    <div className="cell">
                      {rowHref !== undefined && index === 0 ? (
                        <Link href={rowHref(row.original)} className="row-link">
                          {content}
                        </Link>
                      ) : (
                        content
                      )}
                    </div>
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
      {(pages.items.length > 0 || !pages.hasMore) && (
        <div className={pages.isKept ? "outdated" : undefined}>
          <DataTable {...table} rows={pages.items} />
        </div>
      )}
      {(pages.items.length > 0 || pages.hasMore) && (
        <LoadMore
          count={pages.items.length}
          hasMore={pages.hasMore}
          reached={pages.reached}
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
  readonly reached?: string | null;
  readonly busy?: boolean;
  readonly onMore: () => void;
}

function LoadMore({ count, hasMore, reached = null, busy = false, onMore }: LoadMoreProps) {
  const shown = formatCount(count);
  return (
    <div className="row load-more">
      <p className="muted" role="status">
        {hasMore ? texts.common.someShown(shown) : texts.common.allShown(shown)}
        {reached !== null && texts.common.reached(reached)}
      </p>
      {hasMore && (
        <Button busy={busy} onClick={onMore}>
          {reached === null ? texts.common.loadMore : texts.common.continue}
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

function headerOf<Row>({ header, isAmount }: Column<Row>, currency: string | null): string {
  return isAmount && currency !== null ? `${header} (${currency})` : header;
}

function classesOf<Row>(columns: readonly Column<Row>[]) {
  const name =
    columns.find(({ place }) => place === "name") ?? columns.find((column) => !column.hideHeader && !column.place);
  const amount = columns.find(({ place }) => place === "amount") ?? columns.findLast(({ isAmount }) => isAmount);
  return (column: Column<Row>): string => {
    const { isNumber, isAmount, isWide } = column;
    const place = column === name ? "cell-name" : column === amount ? "cell-amount" : column.place && "cell-hidden";
    return [isNumber || isAmount ? "cell-number" : isWide && "cell-wide", place].filter(Boolean).join(" ");
  };
}

/** Reads `Name` or `-Name`. A table without this column is not sorted. */
function sortingOf<Row>(sort: string, columns: readonly Column<Row>[]): SortingState {
  const desc = sort.startsWith("-");
  const id = desc ? sort.slice(1) : sort;
  return columns.some(({ header, sort: by }) => header === id && by !== undefined) ? [{ id, desc }] : [];
}

/** Shows the whole text of a cell that is cut off. */
function showCutText({ target }: SyntheticEvent<HTMLElement>): void {
  const cell = (target as HTMLElement).closest("td");
  if (cell !== null && cell.scrollWidth > cell.clientWidth) cell.title = cell.innerText;
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
