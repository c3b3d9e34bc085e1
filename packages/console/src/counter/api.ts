import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { ask } from "../api/client.ts";
import type { ApiProblem } from "../api/problem.ts";
import type { Api } from "./counter-api.d.ts";

/* The API of the counter. It has the form of the staff API, and other operations. */

type Key = keyof Api;
type Input<K extends Key> = Api[K]["input"];
type Answer<K extends Key> = Api[K]["answer"];

/** Calls an operation of the counter. @throws ApiProblem */
export function askCounter<K extends Key>(key: K, input: Input<K>, signal?: AbortSignal): Promise<Answer<K>> {
  const sending = signal === undefined ? {} : { signal };
  return ask(key as never, input as never, sending) as Promise<Answer<K>>;
}

/** Reads from the counter, and reads again after each change. @param seconds between two readings; undefined: once. */
export function useCounter<K extends Key>(key: K, input: Input<K>, seconds?: number) {
  return useQuery<Answer<K>, ApiProblem>({
    queryKey: [key, input],
    queryFn: ({ signal }) => askCounter(key, input, signal),
    refetchInterval: seconds === undefined ? false : seconds * 1_000,
  });
}

/** Sends a change. Then all shown data is read again. */
export function useChange<K extends Key>(key: K) {
  const client = useQueryClient();
  return useMutation<Answer<K>, ApiProblem, Input<K>>({
    mutationFn: (input) => askCounter(key, input),
    onSettled: () => void client.invalidateQueries(),
  });
}
