import {
  keepPreviousData,
  type QueryClient,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { useState } from "react";
import { api, type Query, type Sent } from "./client.ts";
import { RequestKeys } from "./keys.ts";
import type { ApiProblem } from "./problem.ts";
import type { Page } from "./types.ts";

/** What an address says, read again when something was changed. `path` null: nothing is asked yet. */
export function useApi<Answer>(path: string | null, query: Query = {}) {
  return useQuery<Answer, ApiProblem>({
    queryKey: [path, query],
    queryFn: ({ signal }) => api.get<Answer>(path ?? "", query, signal),
    enabled: path !== null,
  });
}

/** A job's state, asked for each second until it is over. */
export function usePoll<Answer>(path: string | null, isOver: (answer: Answer) => boolean, query: Query = {}) {
  return useQuery<Answer, ApiProblem>({
    queryKey: [path, query],
    queryFn: ({ signal }) => api.get<Answer>(path ?? "", query, signal),
    enabled: path !== null,
    refetchInterval: ({ state }) => (state.data !== undefined && isOver(state.data) ? false : 1_000),
  });
}

const PREVIEW = "preview";

/** What a change would do: the same request with `preview`. `body` null: there is nothing to preview yet. */
export function usePreview<Answer>(path: string, body: object | null, query: Query = {}) {
  return useQuery<Answer, ApiProblem>({
    queryKey: [PREVIEW, path, query, body],
    queryFn: () => api.post<Answer>(path, { query: { preview: true, ...query }, body }),
    enabled: body !== null,
    gcTime: 0,
    retry: false,
    placeholderData: keepPreviousData,
  });
}

/** A list, page by page. */
export interface Pages<Item> {
  readonly items: readonly Item[];
  /** Undefined before the first page is there. */
  readonly first: Page<Item> | undefined;
  readonly error: ApiProblem | null;
  readonly isLoading: boolean;
  /** Whether it is the answer to what was asked before: see `keep`. */
  readonly isKept: boolean;
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  readonly loadMore: () => void;
  readonly reload: () => void;
}

/**
 * @typeParam First what a page is where it says more than its items.
 * @param options.keep keeps the former answer until the next one is there: where one types.
 */
export function usePages<Item, First extends Page<Item> = Page<Item>>(
  path: string | null,
  query: Query = {},
  { keep = false }: { keep?: boolean } = {},
) {
  const result = useInfiniteQuery({
    queryKey: [path, query, "pages"],
    queryFn: ({ pageParam, signal }) => api.get<First>(path ?? "", { ...query, cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.cursor ?? undefined,
    enabled: path !== null,
    ...(keep && { placeholderData: keepPreviousData }),
  });
  const pages = result.data?.pages ?? [];
  return {
    items: pages.flatMap(({ items }) => items),
    first: pages[0],
    error: result.error as ApiProblem | null,
    isLoading: result.isLoading,
    isKept: result.isPlaceholderData,
    hasMore: result.hasNextPage,
    isLoadingMore: result.isFetchingNextPage,
    loadMore: () => void result.fetchNextPage(),
    reload: () => void result.refetch(),
  } satisfies Pages<Item>;
}

/** A changing request. */
export interface Change extends Omit<Sent, "key"> {
  readonly method: "post" | "put" | "patch" | "delete";
  readonly path: string;
}

/** Sends a change, with one Idempotency-Key until it is known what became of it, and reads all again that is shown. */
export function useSend<Answer = void>() {
  const client = useQueryClient();
  const keys = useKeys();
  return useMutation<Answer, ApiProblem, Change>({
    mutationFn: ({ method, path, query, body }) =>
      keys.send([method, path, query, body], (key) => api[method]<Answer>(path, { query, body, key })),
    // Of one that failed too: its answer alone may be lost.
    onSettled: () => readAgain(client),
  });
}

/** A file to send. */
export interface FileChange {
  readonly path: string;
  readonly file: File;
  readonly query?: Query;
}

/** Sends a file; `progress` is the share that has gone out, from 0 to 1. */
export function useUpload<Answer>() {
  const client = useQueryClient();
  const keys = useKeys();
  const [progress, setProgress] = useState(0);
  const mutation = useMutation<Answer, ApiProblem, FileChange>({
    mutationFn: ({ path, file, query }) => {
      setProgress(0);
      return keys.send([path, query, file.name, file.size, file.lastModified], (key) =>
        api.upload<Answer>("POST", path, file, { query, key }, setProgress),
      );
    },
    onSettled: () => readAgain(client),
  });
  return { ...mutation, progress };
}

/** All that is shown, but what a change would have done before it was. Nobody waits for it. */
function readAgain(client: QueryClient): void {
  void client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== PREVIEW });
}

function useKeys(): RequestKeys {
  return useState(() => new RequestKeys(() => crypto.randomUUID()))[0];
}
