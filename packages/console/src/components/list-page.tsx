import { type ReactNode, useEffect } from "react";
import type { Pages } from "../api/hooks.ts";
import { texts } from "../texts/index.ts";
import { DownloadButton } from "./button.tsx";
import { type DataTableProps, LoadedTable, PagedTable, type WholeList } from "./data-table.tsx";
import { type Filter, FilterBar, PERIOD_NAMES, useFilters } from "./filters.tsx";
import { PageHead } from "./page-head.tsx";

interface ListPageProps<Row> extends Omit<DataTableProps<Row>, "rows"> {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  /** Address of the filtered list as a CSV file. */
  readonly csv?: string;
  /** Filters by their names in the address and in the API. */
  readonly filters?: Readonly<Record<string, Filter>>;
  /** Whether the list can be limited to days. */
  readonly hasPeriod?: boolean;
  readonly list: Pages<Row> | WholeList<Row>;
  /** Shown if no row fits the filters. */
  readonly emptyFiltered?: ReactNode;
}

const NO_FILTERS: Readonly<Record<string, Filter>> = {};

/** A page with one list: head, filters, table, and the CSV download. The address keeps the filters and the loaded pages. */
export function ListPage<Row>(props: ListPageProps<Row>) {
  const { title, lead, actions, csv, filters = NO_FILTERS, hasPeriod = false, emptyFiltered, ...rest } = props;
  const list = useAddressedPages(props.list);
  const names = [...(hasPeriod ? PERIOD_NAMES : []), ...Object.keys(filters)];
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
      {names.length > 0 && <FilterBar filters={filters} hasPeriod={hasPeriod} problemOf={problemOf} />}
      {!isMistyped &&
        ("loadMore" in list ? <PagedTable {...table} pages={list} /> : <LoadedTable {...table} list={list} />)}
    </>
  );
}

/** Keeps the number of loaded pages in the address, and loads as many when the page opens. */
function useAddressedPages<Row>(list: Pages<Row> | WholeList<Row>): Pages<Row> | WholeList<Row> {
  const [values, setValues] = useFilters(["pages"]);
  const pages = "loadMore" in list ? list : undefined;
  const isMissing = pages?.hasMore === true && pages.count < Number(values.pages);
  const canLoad = isMissing && !pages.isLoadingMore && !pages.isKept && pages.error === null;
  useEffect(() => {
    if (canLoad) pages?.loadMore();
  }, [canLoad, pages]);
  if (pages === undefined) return list;
  const loadMore = () => {
    setValues({ pages: String(pages.count + 1) });
    pages.loadMore();
  };
  return { ...pages, loadMore };
}
