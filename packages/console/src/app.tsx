import { QueryClientProvider } from "@tanstack/react-query";
import { type ComponentType, lazy, Suspense, useState } from "react";
import { Redirect, Route, Switch } from "wouter";
import { createClient, MeContext, useMay, useMe, useSession } from "./api/session.tsx";
import { EnvironmentProvider, useEnvironment } from "./components/environment.tsx";
import { ErrorBoundary, Forbidden, NotFound } from "./components/page-head.tsx";
import { ErrorNote, Loading } from "./components/states.tsx";
import { ToastProvider } from "./components/toasts.tsx";
import { groupDigits } from "./format.ts";
import type { PageProps } from "./page-props.ts";
import { type PageRoute, ROUTES } from "./routes.ts";
import { Layout } from "./shell/layout.tsx";
import { LogIn } from "./shell/log-in.tsx";

/** All pages. The code of a page is loaded when the page opens. */
const PAGES: readonly (PageRoute & { readonly Page: ComponentType<PageProps> })[] = ROUTES.map((route) => ({
  ...route,
  Page: lazy(route.load),
}));

export function App() {
  const [client] = useState(createClient);
  return (
    <ErrorBoundary>
      <QueryClientProvider client={client}>
        <ToastProvider>
          <Console />
        </ToastProvider>
      </QueryClientProvider>
    </ErrorBoundary>
  );
}

function Console() {
  const { data: me, error, refetch } = useSession();
  if (me === null) return <LogIn />;
  if (me === undefined) {
    return (
      <main className="page">
        {error === null ? <Loading /> : <ErrorNote error={error} onRetry={() => void refetch()} />}
      </main>
    );
  }
  groupDigits(me.provider.numberGrouping);
  return (
    <MeContext value={me}>
      <EnvironmentProvider>
        <Layout>
          <Pages />
        </Layout>
      </EnvironmentProvider>
    </MeContext>
  );
}

/** The only page until an account is set up. */
const ACCOUNT = "/account";

/** Remounts a page if its address or the environment changes. */
function Pages() {
  const environment = useEnvironment();
  return (
    <Switch>
      {PAGES.map((page) => (
        <Route key={page.path} path={page.path}>
          {(params) => <LetIn key={`${environment} ${JSON.stringify(params)}`} page={page} params={decode(params)} />}
        </Route>
      ))}
      <Route>
        <NotFound />
      </Route>
    </Switch>
  );
}

/** Decodes the characters that the router leaves escaped, such as `/` and `&`. */
function decode(params: object): PageProps["params"] {
  const whole = (text: string) => text.replace(/%(?:2[34678BCF]|3[ABDF]|40)/gi, decodeURIComponent);
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, whole(String(value))]));
}

function LetIn({ page: { path, permission, Page }, params }: { page: (typeof PAGES)[number] } & PageProps) {
  const { mustSetUp } = useMe();
  const may = useMay(permission);
  if (mustSetUp !== null && path !== ACCOUNT) return <Redirect to={ACCOUNT} replace />;
  if (!may && mustSetUp === null) return <Forbidden />;
  return (
    <ErrorBoundary>
      <Suspense fallback={<Loading />}>
        <div className="stack">
          <Page params={params} />
        </div>
      </Suspense>
    </ErrorBoundary>
  );
}
