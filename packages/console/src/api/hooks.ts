import {
  keepPreviousData,
  type QueryClient,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { ask, upload } from "./client.ts";
import { RequestKeys } from "./keys.ts";
import type { ApiProblem } from "./problem.ts";
import type {
  Answer,
  ChangeKey,
  CorrectionInput,
  CorrectionKey,
  Input,
  PageKey,
  PartKey,
  PreviewKey,
  ReadKey,
  UploadKey,
} from "./request.ts";

/** Makes the input optional if none of its fields is required. */
type Asked<K extends ReadKey> =
  Record<never, never> extends Input<K> ? [input?: Input<K> | null] : [input: Input<K> | null];

/** Reads from the API, and reads again after each change. A null input sends nothing. */
export function useApi<K extends ReadKey>(key: K, ...[input]: Asked<K>) {
  return useQuery<Answer<K>, ApiProblem>(readingOf(key, input));
}

/** Reads the state of work each second until it is over. */
export function usePoll<K extends ReadKey>(key: K, input: Input<K> | null, isOver: (answer: Answer<K>) => boolean) {
  return useQuery<Answer<K>, ApiProblem>({
    ...readingOf(key, input),
    refetchInterval: ({ state }) => (state.data !== undefined && isOver(state.data) ? false : 1_000),
  });
}

/**
 * Reads again every few seconds while the page is visible, or each time `version` changes if it is given. Keeps the previous
 * answer until the next one is loaded.
 */
export function useLive<K extends ReadKey>(
  key: K,
  input: Input<K>,
  { seconds = 4, version }: { seconds?: number; version?: number } = {},
) {
  return useQuery<Answer<K>, ApiProblem>({
    queryKey: version === undefined ? [key, input] : [key, input, version],
    queryFn: ({ signal, client, queryKey }) => {
      const isPoll = version !== undefined || client.getQueryData(queryKey) !== undefined;
      return ask(key, input, { signal, isPoll });
    },
    refetchInterval: version === undefined && seconds * 1_000,
    placeholderData: keepPreviousData,
  });
}

function readingOf<K extends ReadKey>(key: K, input: Input<K> | null = {} as Input<K>) {
  return {
    queryKey: [key, input],
    queryFn: ({ signal }: { signal: AbortSignal }) => ask(key, input as Input<K>, { signal }),
    enabled: input !== null,
  };
}

const PREVIEW = "preview";

/** Previews a change. A null input sends nothing. */
export function usePreview<K extends PreviewKey>(key: K, input: Input<K> | null) {
  return useQuery<Answer<K>, ApiProblem>({
    queryKey: [PREVIEW, key, input],
    queryFn: () => ask(key, { ...input, preview: true } as Input<K>),
    enabled: input !== null,
    gcTime: 0,
    retry: false,
    placeholderData: keepPreviousData,
  });
}

type ItemOf<K extends PageKey> = Answer<K>["items"][number];

/** A list that is loaded page by page. */
export interface Pages<Item> {
  readonly items: readonly Item[];
  /** Undefined until the first page is loaded. */
  readonly first: object | undefined;
  readonly error: ApiProblem | null;
  readonly isLoading: boolean;
  /** True while the data belongs to the previous input. */
  readonly isKept: boolean;
  /** Number of loaded pages. */
  readonly count: number;
  readonly hasMore: boolean;
  /** Time back to which the server looked, if the last page ended early. */
  readonly reached: string | null;
  readonly isLoadingMore: boolean;
  readonly loadMore: () => void;
  readonly reload: () => void;
}

function useParts<K extends PartKey>(key: K, input: Input<K> | null) {
  return useInfiniteQuery({
    queryKey: [key, input, "pages"],
    queryFn: ({ pageParam, signal }) => ask(key, { ...input, cursor: pageParam } as Input<K>, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.cursor ?? undefined,
    enabled: input !== null,
    placeholderData: keepPreviousData,
  });
}

/** Reads sums part by part until their cursor is null: each part contains the previous ones. */
export function useSums<K extends PartKey>(key: K, input: Input<K>): Answer<K> | undefined {
  const { data, hasNextPage, isFetching, isError, isPlaceholderData, fetchNextPage } = useParts(key, input);
  useEffect(() => {
    if (hasNextPage && !isFetching && !isError) void fetchNextPage();
  }, [hasNextPage, isFetching, isError, fetchNextPage]);
  return isPlaceholderData ? undefined : data?.pages.at(-1);
}

/** Reads a list with a cursor. If the input changes, the previous answer is kept until the next one is loaded. */
export function usePages<K extends PageKey>(key: K, input: Input<K> | null) {
  const result = useParts(key, input);
  const pages = result.data?.pages ?? [];
  return {
    items: pages.flatMap(({ items }) => items as ItemOf<K>[]),
    first: pages[0] as Answer<K> | undefined,
    error: result.error as ApiProblem | null,
    isLoading: result.isLoading,
    isKept: result.isPlaceholderData,
    count: pages.length,
    hasMore: result.hasNextPage,
    reached: (pages.at(-1) as { readonly reached?: string | null } | undefined)?.reached ?? null,
    isLoadingMore: result.isFetchingNextPage,
    loadMore: () => void result.fetchNextPage(),
    reload: () => void result.refetch(),
  } satisfies Pages<ItemOf<K>>;
}

/** Sends a change, with one Idempotency-Key until the outcome is known. Then all shown data is reloaded. */
export function useSend<K extends ChangeKey>(key: K) {
  const client = useQueryClient();
  const keys = useKeys();
  return useMutation<Answer<K>, ApiProblem, Input<K>>({
    mutationFn: (input) => keys.send([key, input], (idempotencyKey) => ask(key, input, { idempotencyKey })),
    // Reload after a failure too: the change may have worked.
    onSettled: () => readAgain(client),
  });
}

/** Reason in a preview: the API requires one and does not store it. */
const NO_REASON = "preview";

/** Previews a correction, and commits it with a reason. A null input previews nothing. */
export function useCorrection<K extends CorrectionKey>(key: K, input: CorrectionInput<K> | null) {
  const withReason = (reason: string) => ({ ...input, reason }) as Input<K>;
  const send = useSend(key);
  const { data, error, isFetching } = usePreview(key, input && withReason(NO_REASON));
  const effect = input === null || error !== null ? undefined : data;
  return {
    /** Preview of the correction; the previous one until the new one is loaded. */
    effect,
    error: input === null ? null : error,
    isReady: effect !== undefined && !isFetching,
    commit: (reason: string) => send.mutateAsync(withReason(reason)),
  };
}

/** Sends a file. `progress`: the sent share, 0 to 1. */
export function useUpload<K extends UploadKey>(key: K) {
  const client = useQueryClient();
  const keys = useKeys();
  const [progress, setProgress] = useState(0);
  const mutation = useMutation<Answer<K>, ApiProblem, Input<K>>({
    mutationFn: (input) => {
      setProgress(0);
      const { name, size, lastModified } = input.file;
      return keys.send([key, input, name, size, lastModified], (idempotencyKey) =>
        upload(key, input, idempotencyKey, setProgress),
      );
    },
    onSettled: () => readAgain(client),
  });
  return { ...mutation, progress };
}

/** Reloads all shown data except previews, in the background. */
function readAgain(client: QueryClient): void {
  void client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== PREVIEW });
}

function useKeys(): RequestKeys {
  return useState(() => new RequestKeys(() => crypto.randomUUID()))[0];
}
