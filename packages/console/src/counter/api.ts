import type { UseMutationResult, UseQueryResult } from "@tanstack/react-query";
import { ask as askStaffApi } from "../api/client.ts";
import * as hooks from "../api/hooks.ts";
import type { ApiProblem } from "../api/problem.ts";
import type { Api } from "./counter-api.d.ts";

/* The console's way to an API, with the operations of the counter. */

type Key = keyof Api;
export type Input<K extends Key> = Api[K]["input"];
export type Answer<K extends Key> = Api[K]["answer"];
type ReadKey = Extract<Key, `GET ${string}`>;
type PageKey = { [K in ReadKey]: Answer<K> extends { items: unknown[]; cursor: string | null } ? K : never }[ReadKey];
type PagesOf<K extends PageKey> = hooks.Pages<Answer<K>["items"][number]> & { readonly first: Answer<K> | undefined };

interface Asking {
  readonly signal?: AbortSignal;
  readonly isPoll?: boolean;
}

interface CounterHooks {
  /** A null input sends nothing. */
  readonly useApi: <K extends ReadKey>(key: K, input: Input<K> | null) => UseQueryResult<Answer<K>, ApiProblem>;
  readonly usePages: <K extends PageKey>(key: K, input: Input<K>) => PagesOf<K>;
  readonly useSend: <K extends Exclude<Key, ReadKey>>(key: K) => UseMutationResult<Answer<K>, ApiProblem, Input<K>>;
}

// Both read only the method and the path of a key.
export const { useApi, usePages, useSend } = hooks as unknown as CounterHooks;
export const ask = askStaffApi as unknown as <K extends Key>(
  key: K,
  input: Input<K>,
  asking?: Asking,
) => Promise<Answer<K>>;
