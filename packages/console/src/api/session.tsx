import { MutationCache, QueryCache, QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { createContext, useContext } from "react";
import { readStored, store } from "../storage.ts";
import { api } from "./client.ts";
import { ApiProblem } from "./problem.ts";
import type { Me, Permission } from "./types.ts";

const SESSION = ["/session"];

/** Set while somebody is logged in, as far as this browser knows: a stranger is not asked about. */
const HINT = "loggedIn";

/** Whoever is logged in. */
export const MeContext = createContext<Me | undefined>(undefined);

export function useMe(): Me {
  const me = useContext(MeContext);
  if (me === undefined) throw new Error("Nobody is logged in");
  return me;
}

/** Says of which currency amounts are, where the provider has named it: `Money, NPR`. */
export function useInCurrency(): (label: string) => string {
  const { currency } = useMe().provider;
  return (label) => (currency === null ? label : `${label}, ${currency}`);
}

/** Whether whoever is logged in may do what needs this permission. */
export function useMay(permission: Permission): boolean {
  return useMe().permissions.includes(permission);
}

/** Null: nobody is logged in. */
export function useSession() {
  return useQuery<Me | null, ApiProblem>({
    queryKey: SESSION,
    queryFn: async ({ signal }) => {
      if (readStored(HINT) === null) return null;
      try {
        return await api.get<Me>("/session", {}, signal);
      } catch (error) {
        if (isLoggedOut(error)) {
          store(HINT, null);
          return null;
        }
        throw error;
      }
    },
    staleTime: 60_000,
  });
}

export function useLogIn() {
  const client = useQueryClient();
  return async (name: string, password: string, code: string | undefined) => {
    const me = await api.post<Me>("/session", { body: { name, password, ...(code && { code }) } });
    forgetAll(client);
    store(HINT, "yes");
    client.setQueryData(SESSION, me);
  };
}

export function useLogOut() {
  const client = useQueryClient();
  return async () => {
    await api.delete("/session");
    forgetAll(client);
  };
}

/** What is asked of the API is kept here. Where it says that nobody is logged in, all is forgotten: the log-in page shows. */
export function createClient(): QueryClient {
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError: (error) => forgetIfLoggedOut(error) }),
    mutationCache: new MutationCache({ onError: (error) => forgetIfLoggedOut(error) }),
    defaultOptions: {
      queries: {
        networkMode: "always",
        staleTime: 5_000,
        retry: (failures, error) => failures < 2 && error instanceof ApiProblem && isPassing(error),
      },
      mutations: { networkMode: "always" },
    },
  });
  const forgetIfLoggedOut = (error: unknown) => {
    if (isLoggedOut(error)) forgetAll(client);
  };
  return client;
}

function forgetAll(client: QueryClient): void {
  store(HINT, null);
  client.setQueryData(SESSION, null);
  client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION[0] });
}

function isLoggedOut(error: unknown): boolean {
  return error instanceof ApiProblem && error.code === "not_logged_in";
}

function isPassing({ status }: ApiProblem): boolean {
  return status === 0 || status === 503;
}
