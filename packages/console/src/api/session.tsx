import { MutationCache, QueryCache, QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { createContext, useContext, useState } from "react";
import { readStored, store } from "../storage.ts";
import { ask } from "./client.ts";
import { ApiProblem } from "./problem.ts";
import type { Permission } from "./request.ts";
import type { Me } from "./staff-api.d.ts";

const SESSION = ["GET /session"] as const;

/** Key of the words why the session ended. */
const END = ["end of the session"] as const;

/** Storage key, set while a session probably exists. Without it, the first visit sends no request. */
const HINT = "loggedIn";

export const MeContext = createContext<Me | undefined>(undefined);

export function useMe(): Me {
  const me = useContext(MeContext);
  if (me === undefined) throw new Error("there is no session");
  return me;
}

/** Returns a function that adds the currency to a label: `Money, NPR`. */
export function useInCurrency(): (label: string) => string {
  const { currency } = useMe().provider;
  return (label) => (currency === null ? label : `${label}, ${currency}`);
}

/** Whether the session's role has a permission. */
export function useMay(permission: Permission): boolean {
  return useMe().permissions.includes(permission);
}

/** Reads the session; null without a session. */
export function useSession() {
  const client = useQueryClient();
  return useQuery<Me | null, ApiProblem>({
    queryKey: SESSION,
    queryFn: async ({ signal }) => {
      if (readStored(HINT) === null) return null;
      try {
        return await ask(SESSION[0], {}, { signal });
      } catch (error) {
        if (isLoggedOut(error)) {
          forgetAll(client, error);
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
    expectSession();
    client.setQueryData(SESSION, me);
  };
}

/** Why the last session ended, in words of the server; undefined after a log-out. */
export function useSessionEnd(): string | undefined {
  const client = useQueryClient();
  return useState(() => client.getQueryData<string>(END))[0];
}

/** Address of a log-in with OpenID Connect that returns to this page. @param proof "yes" if only a new log-in counts. */
export function issuerUrl(proof?: "yes"): string {
  const to = `${location.pathname}${location.search}`;
  return `/api/v1/session/oidc?${new URLSearchParams({ to, ...(proof && { proof }) })}`;
}

/** Makes the next page ask for a session. */
export function expectSession(): void {
  store(HINT, "yes");
}

export function useLogOut() {
  const client = useQueryClient();
  return async () => {
    await ask("DELETE /session", {});
    forgetAll(client);
  };
}

/** Creates the query cache. A 401 clears it and shows the log-in page; `set_up_first` shows the own account. */
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
    if (isLoggedOut(error)) forgetAll(client, error);
    if (hasCode(error, "set_up_first")) void client.invalidateQueries({ queryKey: SESSION });
  };
  return client;
}

function forgetAll(client: QueryClient, why?: unknown): void {
  store(HINT, null);
  if (why instanceof ApiProblem) client.setQueryData(END, why.problem.detail);
  client.setQueryData(SESSION, null);
  client.removeQueries({ predicate: ({ queryKey }) => ![SESSION[0], why && END[0]].includes(queryKey[0]) });
}

function isLoggedOut(error: unknown): boolean {
  return hasCode(error, "not_logged_in");
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof ApiProblem && error.code === code;
}

function isPassing({ status }: ApiProblem): boolean {
  return status === 0 || status === 503;
}
