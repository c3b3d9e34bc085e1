import type { ReactNode } from "react";
import type { Pages } from "../api/hooks.ts";
import { PageHead } from "../shell/page-head.tsx";
import { texts } from "../texts/index.ts";
import { DownloadButton } from "./button.tsx";
import { type DataTableProps, LoadedTable, PagedTable, type WholeList } from "./data-table.tsx";
import { type Filter, FilterBar, useFilters } from "./filters.tsx";

interface ListPageProps<Row> extends Omit<DataTableProps<Row>, "rows"> {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  /** Address of the filtered list as a CSV file. */
  readonly csv?: string;
  /** Filters by their names in the address and in the API. */
  readonly filters?: Readonly<Record<string, Filter>>;
  readonly list: Pages<Row> | WholeList<Row>;
  /** Shown if no row fits the filters. */
  readonly emptyFiltered?: ReactNode;
  /** Content between the filters and the table, such as totals. */
  readonly children?: ReactNode;
}

const NO_FILTERS: Readonly<Record<string, Filter>> = {};

/** A page with one list: head, filters, table, and the CSV download. */
export function ListPage<Row>(props: ListPageProps<Row>) {
  const { title, lead, actions, csv, filters = NO_FILTERS, list, emptyFiltered, children, ...rest } = props;
  const names = Object.keys(filters);
  const [values] = useFilters(names);
  const problemOf = (name: string) => list.error?.problem.fields?.find(({ field }) => field === name)?.problem;
  const isMistyped = names.some((name) => problemOf(name) !== undefined);
  const isFiltered = names.some((name) => values[name] !== "");
  const table = { ...rest, empty: (isFiltered && emptyFiltered) || rest.empty };
  return (
    <>
      <PageHead
        title={title}
        lead={lead}
        actions={
          <>
            {csv !== undefined && <DownloadButton href={csv}>{texts.common.download}</DownloadButton>}
            {actions}
          </>
        }
      />
      {names.length > 0 && <FilterBar filters={filters} problemOf={problemOf} />}
      {list.error === null && children}
      {!isMistyped &&
        ("loadMore" in list ? <PagedTable {...table} pages={list} /> : <LoadedTable {...table} list={list} />)}
    </>
  );
}
