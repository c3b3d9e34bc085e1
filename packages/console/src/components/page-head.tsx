import { Component, type ReactNode, useEffect, useRef } from "react";
import { Link, useLocation } from "wouter";
import { texts } from "../texts/index.ts";
import { Button, LinkButton } from "./button.tsx";
import { EmptyState } from "./states.tsx";

const t = texts.shell;

/** Page whose heading has had the focus. The first page of a visit keeps the browser's focus. */
let focused = location.pathname;

interface PageHeadProps {
  readonly title: string;
  /** Purpose of the page, one sentence. */
  readonly lead?: ReactNode;
  /** The parent page. */
  readonly up?: { readonly href: string; readonly title: string };
  readonly actions?: ReactNode;
}

/** The head of a page. It takes the focus when the page opens, so render it at once. */
export function PageHead({ title, lead, up, actions }: PageHeadProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const [path] = useLocation();
  useEffect(() => {
    document.title = `${title} · ${texts.common.product}`;
  }, [title]);
  useEffect(() => {
    if (focused === path) return;
    focused = path;
    heading.current?.focus();
    window.scrollTo(0, 0);
  }, [path]);
  return (
    <header className="row page-head">
      <div>
        {up !== undefined && (
          <p className="page-up">
            <Link href={up.href}>{up.title}</Link>
          </p>
        )}
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {lead !== undefined && <p className="muted">{lead}</p>}
      </div>
      {actions !== undefined && <div className="row">{actions}</div>}
    </header>
  );
}

export function NotFound() {
  return <PlainPage title={t.notFoundTitle} text={t.notFoundText} />;
}

export function Forbidden() {
  return <PlainPage title={t.forbiddenTitle} text={t.forbiddenText} />;
}

function PlainPage({ title, text }: { title: string; text: string }) {
  return (
    <>
      <PageHead title={title} />
      <EmptyState title={text} action={<LinkButton href="/">{t.toOverview}</LinkButton>} />
    </>
  );
}

/** Shows that a page failed, in place of an empty window. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override render() {
    if (!this.state.failed) return this.props.children;
    return (
      <div className="stack">
        <PageHead title={t.crashTitle} />
        <EmptyState title={t.crashText} action={<Button onClick={() => window.location.reload()}>{t.reload}</Button>} />
      </div>
    );
  }
}
