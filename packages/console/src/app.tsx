import { type ComponentType, lazy, Suspense } from "react";
import { Redirect, Route, Switch } from "wouter";
import { useMay, useMe } from "./api/session.tsx";
import { EnvironmentProvider, useEnvironment } from "./components/environment.tsx";
import { ErrorBoundary, Forbidden, NotFound } from "./components/page-head.tsx";
import { Loading } from "./components/states.tsx";
import type { PageProps } from "./page-props.ts";
import { type PageRoute, ROUTES } from "./routes.ts";
import { Frame } from "./shell/frame.tsx";
import { Layout } from "./shell/layout.tsx";

/** All pages. The code of a page is loaded when the page opens. */
const PAGES: readonly (PageRoute & { readonly Page: ComponentType<PageProps> })[] = ROUTES.map((route) => ({
  ...route,
  Page: lazy(route.load),
}));

export function App() {
  return (
    <Frame>
      <EnvironmentProvider>
        <Layout>
          <Pages />
        </Layout>
      </EnvironmentProvider>
    </Frame>
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
