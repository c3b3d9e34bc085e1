import { type KeyboardEvent, useCallback, useEffect, useRef, useState } from "react";
import { useLocation } from "wouter";
import { usePages } from "../../api/hooks.ts";
import type { CustomerMatch } from "../../api/staff-api.d.ts";
import { LinkButton } from "../../components/button.tsx";
import { type Column, PagedTable } from "../../components/data-table.tsx";
import { Badge, Card } from "../../components/display.tsx";
import { useFilters } from "../../components/filters.tsx";
import { EmptyState } from "../../components/states.tsx";
import { customerHref, transactionHref } from "../../links.ts";
import { OtherEnvironment, useEnvironment } from "../../shell/environment.tsx";
import { PageHead } from "../../shell/page-head.tsx";
import { texts } from "../../texts/index.ts";
import { TransactionFacts } from "../transactions/top-up.tsx";
import { ConnectionBadge, connectionName } from "./connection-badge.tsx";

const t = texts.customers;

/** Delay between the last key and the request. */
const PAUSE_MS = 200;

export default function Customers() {
  const environment = useEnvironment();
  const [, navigate] = useLocation();
  const search = useSearchText();
  const found = usePages("GET /customers", { environment, q: search.asked });
  const { first, isKept } = found;
  const transaction = first?.transaction ?? null;
  const [isOpening, setOpening] = useState(false);

  // Enter opens a match of the last typed text, never one of an older answer.
  useEffect(() => {
    if (!isOpening || first === undefined || isKept || search.asked !== search.text.trim()) return;
    setOpening(false);
    const [match, another] = first.items;
    if (transaction !== null) navigate(transactionHref(transaction));
    else if (match !== undefined && another === undefined) navigate(customerHref(match));
  }, [isOpening, first, isKept, search, transaction, navigate]);

  const press = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === "ArrowDown") {
      event.preventDefault();
      document.querySelector<HTMLElement>("main .row-link")?.focus();
    }
    if (event.key !== "Enter" || search.text.trim() === "") return;
    search.ask(search.text);
    setOpening(true);
  };

  return (
    <>
      <PageHead title={texts.shell.pages.customers} />
      <search className="field stack search-field">
        <input
          ref={search.field}
          type="search"
          className="control"
          aria-label={t.search}
          aria-describedby="search-hint"
          autoComplete="off"
          spellCheck={false}
          maxLength={200}
          value={search.text}
          onChange={({ target }) => {
            setOpening(false);
            search.setText(target.value);
          }}
          onKeyDown={press}
        />
        <p id="search-hint" className="field-hint">
          {t.searchHint}
        </p>
      </search>
      {transaction !== null && (
        <>
          <OtherEnvironment of={transaction.environment} />
          <Card
            title={t.transactionFound}
            actions={<LinkButton href={transactionHref(transaction)}>{texts.transactions.open}</LinkButton>}
          >
            <TransactionFacts transaction={transaction} />
          </Card>
        </>
      )}
      <div className={isKept ? "stack outdated" : "stack"}>
        <PagedTable
          label={t.list}
          pages={found}
          columns={COLUMNS}
          rowKey={({ cuid }) => cuid}
          rowHref={customerHref}
          empty={search.asked === "" ? <NobodyYet /> : <EmptyState title={t.noMatchTitle}>{t.noMatchText}</EmptyState>}
        />
      </div>
    </>
  );
}

function NobodyYet() {
  return (
    <EmptyState title={t.noneTitle} action={<LinkButton href="/imports">{t.toImports}</LinkButton>}>
      {t.noneText}
    </EmptyState>
  );
}

const COLUMNS: readonly Column<CustomerMatch>[] = [
  { header: t.name, cell: ({ firstName, lastName }) => `${firstName} ${lastName}`.trim() || "–" },
  { header: t.cuid, cell: ({ cuid }) => <span className="number">{cuid}</span> },
  { header: t.mobile, cell: ({ mobile }) => <span className="number">{mobile ?? "–"}</span> },
  {
    header: t.status,
    cell: ({ status }) => <Badge tone={status === "active" ? "success" : "neutral"}>{t.statuses[status]}</Badge>,
  },
  {
    header: t.connections,
    cell: ({ connections }) => (
      <span className="badges">
        {connections.map((connection) => (
          <ConnectionBadge key={connectionName(connection)} connection={connection} />
        ))}
      </span>
    ),
  },
];

/** The typed text and the searched text, which the address keeps. */
function useSearchText() {
  const [{ q }, setFilters] = useFilters(["q"]);
  const [text, setText] = useState(q);
  const asked = useRef(q);
  const field = useRef<HTMLInputElement>(null);

  // The page head takes the focus first; then the field takes it.
  useEffect(() => field.current?.focus(), []);
  // The search in the header also changes the address.
  useEffect(() => {
    if (q === asked.current) return;
    asked.current = q;
    setText(q);
    field.current?.focus();
  }, [q]);
  const ask = useCallback(
    (next: string) => {
      asked.current = next.trim();
      setFilters({ q: next.trim() });
    },
    [setFilters],
  );
  useEffect(() => {
    if (text.trim() === asked.current) return;
    const timer = setTimeout(() => ask(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, ask]);
  return { text, setText, asked: q, ask, field };
}
