import { type ReactNode, useEffect, useState } from "react";
import { Link, useLocation } from "wouter";
import { useMe } from "../api/session.tsx";
import { Icon } from "../components/button.tsx";
import { Badge } from "../components/display.tsx";
import { useEnvironment, useEnvironmentChoice } from "../components/environment.tsx";
import { Menu, MenuChoice } from "../components/menu.tsx";
import { type PageRoute, ROUTES } from "../routes.ts";
import { texts } from "../texts/index.ts";
import { AccountMenu } from "./account-menu.tsx";
import { Brand } from "./brand.tsx";
import { Keys } from "./keys.tsx";
import { Search } from "./search.tsx";

const t = texts.shell;

/** Header and navigation around every page. */
export function Layout({ children }: { children: ReactNode }) {
  const { permissions, provider } = useMe();
  const environment = useEnvironment();
  const [path] = useLocation();
  const [isNavOpen, setNavOpen] = useState(false);
  const [areKeysOpen, setKeysOpen] = useState(false);
  const routes = ROUTES.filter(({ permission }) => permissions.includes(permission));

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new page closes the navigation
  useEffect(() => setNavOpen(false), [path]);

  return (
    <div className="shell" data-environment={environment}>
      <a className="skip" href="#page">
        {t.skip}
      </a>
      <header className="top">
        <button
          type="button"
          className="icon-button nav-toggle"
          aria-label={t.openNavigation}
          aria-expanded={isNavOpen}
          aria-controls="navigation"
          onClick={() => setNavOpen(!isNavOpen)}
        >
          <Icon name={isNavOpen ? "close" : "menu"} />
        </button>
        <Link href="/" className="brand-link">
          <Brand />
        </Link>
        {permissions.length > 0 && <Search />}
        <EnvironmentSwitch />
        <AccountMenu onKeys={() => setKeysOpen(true)} />
      </header>
      <Navigation routes={routes} isOpen={isNavOpen} onClose={() => setNavOpen(false)} />
      <div className="content">
        {environment === "trial" && (
          <aside className="trial-note" aria-label={t.environment}>
            <Badge tone="warning">{texts.common.environments.trial}</Badge> {t.trialNote}
          </aside>
        )}
        <main id="page" className="page" tabIndex={-1}>
          {children}
        </main>
        <footer className="row foot">
          <span>{t.clock(provider.timeZone)}</span> <span>{t.version(provider.version)}</span>
        </footer>
      </div>
      <Keys routes={routes} open={areKeysOpen} onOpenChange={setKeysOpen} />
    </div>
  );
}

interface NavigationProps {
  readonly routes: readonly PageRoute[];
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

function Navigation({ routes, isOpen, onClose }: NavigationProps) {
  const [path] = useLocation();
  return (
    <>
      {isOpen && <div className="nav-shade" aria-hidden="true" onClick={onClose} />}
      <nav
        id="navigation"
        aria-label={t.navigation}
        className={isOpen ? "nav nav-open" : "nav"}
        onKeyDown={({ key }) => key === "Escape" && onClose()}
      >
        {Object.entries(t.groups).map(([group, title]) => {
          const inGroup = routes.filter(({ nav }) => nav?.group === group);
          if (inGroup.length === 0) return null;
          return (
            <div key={group} className="nav-group">
              <p className="nav-title" id={`nav-${group}`}>
                {title}
              </p>
              <ul aria-labelledby={`nav-${group}`}>
                {inGroup.map((route) => (
                  <li key={route.path}>
                    <Link
                      href={route.path}
                      className="nav-link"
                      aria-current={isWithin(path, route.path) ? "page" : undefined}
                    >
                      {route.title}
                    </Link>
                  </li>
                ))}
              </ul>
            </div>
          );
        })}
      </nav>
    </>
  );
}

function EnvironmentSwitch() {
  const [environment, choose] = useEnvironmentChoice();
  const names = texts.common.environments;
  return (
    <Menu
      trigger={
        <>
          <span className="visually-hidden">{t.environment}: </span>
          <span className="environment-dot" aria-hidden="true" />
          <span className="environment-name">{names[environment]}</span>
          <Icon name="down" />
        </>
      }
    >
      <MenuChoice
        label={t.environment}
        value={environment}
        options={[
          ["production", names.production],
          ["trial", names.trial],
        ]}
        onChoose={choose}
      />
    </Menu>
  );
}

function isWithin(path: string, page: string): boolean {
  return path === page || (page !== "/" && path.startsWith(`${page}/`));
}
