import { MutationCache, QueryCache, QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { createContext, useContext } from "react";
import { readStored, store } from "../storage.ts";
import { ask } from "./client.ts";
import type { Permission } from "./names.ts";
import { ApiProblem } from "./problem.ts";
import type { Me } from "./staff-api.d.ts";

const SESSION = ["GET /session"] as const;

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
        return await ask(SESSION[0], {}, { signal });
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
    const me = await ask("POST /session", { name, password, code });
    forgetAll(client);
    store(HINT, "yes");
    client.setQueryData(SESSION, me);
  };
}

export function useLogOut() {
  const client = useQueryClient();
  return async () => {
    await ask("DELETE /session", {});
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
