import { type ReactNode, useId, useState } from "react";
import { Link } from "wouter";
import { useMe } from "../api/session.tsx";
import type { Connection, Run, Settlement } from "../api/staff-api.d.ts";
import { formatAge, formatAmount, formatSeconds, formatTime } from "../format.ts";
import { texts } from "../texts/index.ts";
import { Button, Icon } from "./button.tsx";
import type { Tone } from "./states.tsx";
import { useToast } from "./toasts.tsx";

export function Badge({ tone = "neutral", children }: { tone?: Tone; children: ReactNode }) {
  return <span className={`badge tone-${tone}`}>{children}</span>;
}

interface CardProps {
  readonly title?: string;
  /** Content at the end of the title's line. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A part of a page, with its own heading. */
export function Card({ title, actions, children }: CardProps) {
  const id = useId();
  return (
    <section className="card" aria-labelledby={title === undefined ? undefined : id}>
      {(title !== undefined || actions !== undefined) && (
        <header className="row card-head">
          {title !== undefined && <h2 id={id}>{title}</h2>}
          {actions !== undefined && <div className="row">{actions}</div>}
        </header>
      )}
      {children}
    </section>
  );
}

/** Cards or figures in as many columns as fit. */
export function Grid({ children, wide = false }: { children: ReactNode; wide?: boolean }) {
  return <div className={wide ? "grid grid-wide" : "grid"}>{children}</div>;
}

interface StatProps {
  readonly label: string;
  readonly value: ReactNode;
  readonly note?: ReactNode;
  /** Address of the list behind the figure. */
  readonly href?: string | undefined;
}

export function Stat({ label, value, note, href }: StatProps) {
  return (
    <div className="stat">
      <p className="stat-label">{label}</p>
      <p className="stat-value number">{href === undefined ? value : <Link href={href}>{value}</Link>}</p>
      {note !== undefined && <p className="stat-note">{note}</p>}
    </div>
  );
}

type Taxed = Pick<Settlement["total"], "base" | "taxes">;

/** Base and taxes of an amount, if there are taxes. */
export function Tax({ of: { base, taxes }, as: Part }: { of: Taxed; as: typeof Stat }) {
  const parts = taxes.length > 0 ? [{ name: texts.common.withoutTaxes, amount: base }, ...taxes] : [];
  return parts.map(({ name, amount }) => <Part key={name} label={name} value={<Amount of={amount} />} />);
}

/** Facts of one record. */
export function KeyValue({ children }: { children: ReactNode }) {
  return <dl className="key-value">{children}</dl>;
}

/** One fact of a record, in a line of its own if it is wide. A null value is shown as a dash. */
export function Fact({ label, value, wide = false }: { label: string; value: ReactNode; wide?: boolean }) {
  return (
    <div className={wide ? "fact-wide" : undefined}>
      <dt>{label}</dt>
      <dd>{value ?? "–"}</dd>
    </div>
  );
}

interface TimeProps {
  /** An instant or a wall time. */
  readonly of: string | null;
  /** Whether to show the age of an instant. */
  readonly age?: boolean;
  /** Whether to show the seconds, as lists do, except on a telephone. */
  readonly exact?: boolean;
  /** Text for null. */
  readonly none?: string;
}

export function Time({ of, age = false, exact = false, none = "–" }: TimeProps) {
  const { timeZone } = useMe().provider;
  if (of === null) return none && <span className="no-time">{none}</span>;
  const seconds = formatSeconds(of, timeZone);
  const minute = formatTime(of, timeZone);
  return (
    <time dateTime={of.replace(" ", "T")} title={seconds} className="number">
      {age ? formatAge(of) : minute}
      {exact && <span className="seconds">{seconds.slice(minute.length)}</span>}
    </time>
  );
}

/** `bare`: without the currency, which the header of an amount column names. */
export function Amount({ of, bare = false }: { of: string | null; bare?: boolean }) {
  const { currency } = useMe().provider;
  if (of === null) return "–";
  return (
    <span className="number">
      {currency !== null && !bare && <span className="currency">{currency} </span>}
      {formatAmount(of)}
    </span>
  );
}

/** Code that people compare or type: an id, a secret. */
export function Code({ children }: { children: ReactNode }) {
  return <code className="code">{children}</code>;
}

/** The end of a txnId, by which the search finds it. A click copies the whole txnId. */
export function TxnId({ of }: { of: string }) {
  const toast = useToast();
  const copy = () =>
    void navigator.clipboard.writeText(of).then(
      () => toast(texts.common.copiedId(of)),
      () => toast(texts.common.copyFailed),
    );
  return (
    <button type="button" className="txn-id code" title={of} onClick={copy}>
      <span className="visually-hidden">
        {texts.common.copy} {of}
      </span>
      <span aria-hidden="true">…{of.slice(-6)}</span>
    </button>
  );
}

/** A customer by name, with the id beside. */
export function CustomerName({ cuid, customer }: { cuid: string; customer: NamedCustomer | null }) {
  const name = customer === null ? "" : `${customer.firstName} ${customer.lastName}`.trim();
  return (
    <span className="customer-name">
      <span>{name}</span> <span className={name === "" ? "number" : "number muted"}>{cuid}</span>
    </span>
  );
}

interface NamedCustomer {
  readonly firstName: string;
  readonly lastName: string;
}

/** Name of a connection, such as `TV 000100000000001`. */
export function connectionName({ service, reqId }: Pick<Connection, "service" | "reqId">): string {
  return `${texts.common.services[service]} ${reqId}`;
}

/** Copies a text. The second value is the outcome of the last copy, or "". */
export function useCopy(text: string) {
  const [outcome, setOutcome] = useState("");
  const copy = () =>
    void navigator.clipboard.writeText(text).then(
      () => setOutcome(texts.common.copied),
      () => setOutcome(texts.common.copyFailed),
    );
  return [copy, outcome] as const;
}

/** A text with a copy button. */
export function Copyable({ label, value, once = false }: { label: string; value: string; once?: boolean }) {
  const id = useId();
  const [copy, outcome] = useCopy(value);
  return (
    <div className="field stack copyable">
      <label htmlFor={id} className="field-label">
        {label}
      </label>
      <div className="row">
        <input id={id} className="control code" readOnly value={value} onFocus={({ target }) => target.select()} />
        <Button icon="copy" onClick={copy}>
          {texts.common.copy}
        </Button>
      </div>
      <p className="field-hint" role="status">
        {outcome || (once && texts.common.shownOnce)}
      </p>
    </div>
  );
}

/** The current state and the next one. */
export function BeforeAfter({ before, after }: { before: ReactNode; after: ReactNode }) {
  return (
    <div className="before-after">
      <div>
        <p className="field-label">{texts.common.before}</p>
        {before}
      </div>
      <Icon name="arrow" />
      <div>
        <p className="field-label">{texts.common.after}</p>
        {after}
      </div>
    </div>
  );
}

/** The ends of a subscription before and after a correction. */
export function RunChange({ before, after }: { before: Run | null; after: Run | null }) {
  return <BeforeAfter before={<RunEnd run={before} />} after={<RunEnd run={after} />} />;
}

function RunEnd({ run }: { run: Run | null }) {
  if (run === null) return <p className="muted">{texts.common.nothingRuns}</p>;
  return (
    <>
      <p className="strong">
        <Time of={run.end} />
      </p>
      <p className="muted">{run.name}</p>
    </>
  );
}

export interface HistoryItem {
  readonly id: string;
  /** An instant or a wall time. */
  readonly at: string;
  /** The event, one sentence. */
  readonly text: string;
  /** Whether the event was undone: the text is struck out, and the note says why. */
  readonly struck?: boolean;
  readonly note?: ReactNode;
  readonly actions?: ReactNode;
}

/** An amount, a time, or a short word with a hyphen, such as the code of a bouquet. */
const UNBROKEN = /([A-Z]{3} [\d,]+|\d{4}-\d{2}-\d{2}(?: \d{2}:\d{2})?|(?<!\S)(?=\S{1,24}(?!\S))\S+-\S+)/;

/** Keeps each amount, time and short word of a text in one line. */
export function unbroken(text: string): ReactNode {
  const parts = text.split(UNBROKEN);
  return parts.map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text keep their order
      <span key={index} className="number">
        {part}
      </span>
    ),
  );
}

/** Events of one record, in the given order. */
export function History({ label, items }: { label: string; items: readonly HistoryItem[] }) {
  return (
    <ol className="history" aria-label={label}>
      {items.map(({ id, at, text, struck = false, note, actions }) => (
        <li key={id}>
          <p className="history-time">
            <Time of={at} />
          </p>
          <div>
            <p>{struck ? <s>{unbroken(text)}</s> : unbroken(text)}</p>
            {note !== undefined && <p className="history-note">{note}</p>}
            {actions !== undefined && <div className="row history-actions">{actions}</div>}
          </div>
        </li>
      ))}
    </ol>
  );
}
