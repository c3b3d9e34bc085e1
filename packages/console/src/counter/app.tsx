import { lazy, Suspense } from "react";
import { Link, Redirect, Route, Switch, useLocation } from "wouter";
import { useMe } from "../api/session.tsx";
import { Badge } from "../components/display.tsx";
import { ErrorBoundary } from "../components/page-head.tsx";
import { Loading } from "../components/states.tsx";
import { AccountMenu } from "../shell/account-menu.tsx";
import { Brand } from "../shell/brand.tsx";
import { Frame } from "../shell/frame.tsx";
import { texts } from "../texts/index.ts";
import { useApi } from "./api.ts";
import { ReceiptPage } from "./receipt.tsx";
import { Sell } from "./sell.tsx";
import { counter as t } from "./texts.ts";

/** Address of the console's page of the own password and one-time codes. */
const OWN = "/account";
// Selling does not wait for the code of the other pages.
const OwnAccount = lazy(() => import("../pages/account/account.tsx"));
const Account = lazy(() => import("./account.tsx"));
const Sales = lazy(() => import("./sales.tsx"));

const NAV = [
  ["/", t.pages.sell],
  ["/sales", t.pages.sales],
  ["/money", t.pages.account],
] as const;

export function App() {
  return (
    <Frame>
      <Layout />
    </Frame>
  );
}

function Layout() {
  const { mustSetUp, sellerOf } = useMe();
  const [path] = useLocation();
  const isReady = mustSetUp === null;
  const isTrial = useApi("GET /account", isReady ? {} : null).data?.environment === "trial";
  return (
    <div className="shell counter" data-environment={isTrial ? "trial" : "production"}>
      <a className="skip" href="#page">
        {texts.shell.skip}
      </a>
      <header className="top">
        <Link href="/" className="brand-link">
          <Brand />
        </Link>
        <nav className="row" aria-label={texts.shell.navigation}>
          {isReady &&
            NAV.map(([href, title]) => (
              <Link key={href} href={href} className="nav-link" aria-current={path === href ? "page" : undefined}>
                {title}
              </Link>
            ))}
        </nav>
        <span className="shop muted">{sellerOf}</span>
        <AccountMenu />
      </header>
      <div className="content">
        {isTrial && (
          <aside className="trial-note" aria-label={texts.shell.environment}>
            <Badge tone="warning">{texts.common.environments.trial}</Badge> {texts.shell.trialNote}
          </aside>
        )}
        <main id="page" className="page" tabIndex={-1}>
          <ErrorBoundary key={path}>
            <Suspense fallback={<Loading />}>
              <div className="stack">{isReady || path === OWN ? <Pages /> : <Redirect to={OWN} replace />}</div>
            </Suspense>
          </ErrorBoundary>
        </main>
      </div>
    </div>
  );
}

function Pages() {
  return (
    <Switch>
      <Route path="/" component={Sell} />
      <Route path="/sales" component={Sales} />
      <Route path="/sales/:txnId">{({ txnId }) => <ReceiptPage txnId={txnId} />}</Route>
      <Route path="/money" component={Account} />
      <Route path={OWN}>
        <OwnAccount />
      </Route>
      <Route>
        <Redirect to="/" replace />
      </Route>
    </Switch>
  );
}
