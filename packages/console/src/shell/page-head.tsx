import { type ReactNode, useEffect, useRef } from "react";
import { Link, useLocation } from "wouter";
import { texts } from "../texts/index.ts";

/** Page whose heading already had the focus. The first page of a visit keeps the browser's focus. */
let focused = location.pathname;

interface PageHeadProps {
  readonly title: string;
  /** Purpose of the page, one sentence. */
  readonly lead?: ReactNode;
  /** The page above this one. */
  readonly up?: { readonly href: string; readonly title: string };
  readonly actions?: ReactNode;
}

/** The head of a page: each has one, from its first moment on. The focus moves to it when one goes to the page. */
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
    <header className="page-head">
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
