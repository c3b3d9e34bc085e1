import { Component, type ReactNode } from "react";
import { Button, LinkButton } from "../components/button.tsx";
import { EmptyState } from "../components/states.tsx";
import { texts } from "../texts/index.ts";
import { PageHead } from "./page-head.tsx";

const t = texts.shell;

export function NotFound() {
  return (
    <>
      <PageHead title={t.notFoundTitle} />
      <EmptyState title={t.notFoundText} action={<LinkButton href="/">{t.toOverview}</LinkButton>} />
    </>
  );
}

export function Forbidden() {
  return (
    <>
      <PageHead title={t.forbiddenTitle} />
      <EmptyState title={t.forbiddenText} action={<LinkButton href="/">{t.toOverview}</LinkButton>} />
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
