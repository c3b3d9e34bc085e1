import { QueryClientProvider } from "@tanstack/react-query";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { Link, Redirect, Route, Switch, useLocation } from "wouter";
import { createClient, MeContext, useLogOut, useMe, useSession } from "../api/session.tsx";
import { Button } from "../components/button.tsx";
import { EnvironmentProvider } from "../components/environment.tsx";
import { ErrorBoundary } from "../components/page-head.tsx";
import { ErrorNote, Loading } from "../components/states.tsx";
import { ToastProvider, useToast } from "../components/toasts.tsx";
import { groupDigits } from "../format.ts";
import { LogIn } from "../shell/log-in.tsx";
import { Sell } from "./sell.tsx";
import { texts } from "./texts.ts";

const Sales = lazy(() => import("./sales.tsx"));
const Account = lazy(() => import("./account.tsx"));
const Own = lazy(() => import("../pages/account/account.tsx"));

const OWN = "/account";
const PAGES = [
  { path: "/", title: texts.pages.sell, Page: Sell },
  { path: "/sales", title: texts.pages.sales, Page: Sales },
  { path: "/money", title: texts.pages.account, Page: Account },
  { path: OWN, title: texts.pages.own, Page: Own },
] as const;

/** The pages of sellers. */
export function Counter() {
  const [client] = useState(createClient);
  return (
    <ErrorBoundary>
      <QueryClientProvider client={client}>
        <ToastProvider>
          <Session />
        </ToastProvider>
      </QueryClientProvider>
    </ErrorBoundary>
  );
}

function Session() {
  const { data: me, error, refetch } = useSession();
  const [path] = useLocation();
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
        <Frame>
          {me.mustSetUp !== null && path !== OWN ? <Redirect to={OWN} replace /> : null}
          <Switch>
            {PAGES.map(({ path: at, Page }) => (
              <Route key={at} path={at}>
                <Suspense fallback={<Loading />}>
                  <Page />
                </Suspense>
              </Route>
            ))}
            <Route>
              <Redirect to="/" replace />
            </Route>
          </Switch>
        </Frame>
      </EnvironmentProvider>
    </MeContext>
  );
}

function Frame({ children }: { children: ReactNode }) {
  const { name, sellerOf, mustSetUp, provider } = useMe();
  const [path] = useLocation();
  const logOut = useLogOut();
  const toast = useToast();
  const isTrial = provider.environment === "trial";
  return (
    <div className="counter" data-environment={provider.environment}>
      <header className="counter-top">
        <nav aria-label={texts.navigation}>
          {mustSetUp === null &&
            PAGES.map(({ path: at, title }) => (
              <Link key={at} href={at} className="nav-link" aria-current={path === at ? "page" : undefined}>
                {title}
              </Link>
            ))}
        </nav>
        <p className="counter-who">
          <span className="strong">{sellerOf}</span> <span className="muted">{name}</span>
        </p>
        <Button kind="quiet" onClick={() => void logOut().catch((error: Error) => toast(error.message))}>
          {texts.logOut}
        </Button>
      </header>
      {isTrial && <p className="counter-trial">{texts.trial}</p>}
      <main className="page stack">{children}</main>
    </div>
  );
}
