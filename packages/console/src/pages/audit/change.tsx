import { type ReactNode, useState } from "react";
import { Link } from "wouter";
import { usePages } from "../../api/hooks.ts";
import { useMe } from "../../api/session.tsx";
import type { AuditEntry } from "../../api/staff-api.d.ts";
import { Button, Icon } from "../../components/button.tsx";
import { useEnvironment } from "../../components/environment.tsx";
import { ErrorNote } from "../../components/states.tsx";
import { formatAmount, formatCount, formatTime } from "../../format.ts";
import { customerHref } from "../../links.ts";
import { texts } from "../../texts/index.ts";

const t = texts.audit;

/** Actions whose values are keyed by customer id. */
const OF_MANY = /^(customers\.import|trial\.reset|bulk\.(goodwill|block|unblock|reverse_goodwill))$/;

type ValuesByName = Readonly<Record<string, unknown>>;

interface ChangeProps {
  readonly of: AuditEntry;
  /** Whether the entry concerns only one customer. */
  readonly ofCustomer: boolean;
}

/** Changed values, each before and after. */
export function Change({ of, ofCustomer }: ChangeProps) {
  const { action, subject, reason, parts, before, after } = of;
  if (parts > 1 && reason !== null)
    return <Fold label={t.entries(formatCount(parts))}>{() => <Parts reason={reason} />}</Fold>;
  if (OF_MANY.test(action) && !ofCustomer)
    return <Customers environment={subject} before={valuesOf(before)} after={valuesOf(after)} />;
  return <Values lines={linesOf(before, after)} />;
}

/** The values in one line, which opens to one line for each value. */
function Values({ lines }: { lines: readonly Line[] }) {
  const { timeZone } = useMe().provider;
  if (lines.length === 0) return null;
  const words = lines.map(({ field, from, to }) => {
    const was = from === null ? "" : `${showValue(from, timeZone)} → `;
    return `${field}: ${was}${showValue(to, timeZone)}`;
  });
  return <Fold label={words.join(", ")}>{() => <Lines lines={lines} />}</Fold>;
}

/** All entries of an import or bulk change, newest first. */
function Parts({ reason }: { reason: string }) {
  const pages = usePages("GET /audit", { reason, limit: 10 });
  if (pages.error !== null) return <ErrorNote error={pages.error} onRetry={pages.reload} />;
  return (
    <>
      {pages.items.map((entry) => (
        <Change key={entry.seq} of={entry} ofCustomer={false} />
      ))}
      {pages.hasMore && (
        <Button busy={pages.isLoadingMore} onClick={pages.loadMore}>
          {texts.common.loadMore}
        </Button>
      )}
    </>
  );
}

function Customers({ environment, before, after }: { environment: string; before: ValuesByName; after: ValuesByName }) {
  const shown = useEnvironment();
  const cuids = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return (
    <Fold label={t.customers(formatCount(cuids.length))}>
      {() =>
        cuids.map((cuid) => (
          <div key={cuid}>
            <p className="strong">{environment === shown ? <Link href={customerHref({ cuid })}>{cuid}</Link> : cuid}</p>
            <Lines lines={linesOf(before[cuid], after[cuid])} />
          </div>
        ))
      }
    </Fold>
  );
}

/** Renders its content only when opened: an entry with many customers is long. */
function Fold({ label, children }: { label: string; children: () => ReactNode }) {
  const [open, setOpen] = useState(false);
  return (
    <details className="fold" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{label}</summary>
      {open && <div className="changes">{children()}</div>}
    </details>
  );
}

interface Line {
  readonly field: string;
  readonly from: unknown;
  readonly to: unknown;
}

function Lines({ lines }: { lines: readonly Line[] }) {
  const { timeZone } = useMe().provider;
  const show = (value: unknown) => showValue(value, timeZone);
  return (
    <dl className="changes">
      {lines.map(({ field, from, to }) => (
        <div key={field}>
          <dt>{field}</dt>
          <dd>
            {from !== null && (
              <>
                <span className="muted">{show(from)}</span>
                <Icon name="arrow" />
                <span className="visually-hidden">{t.became}</span>
              </>
            )}
            {show(to)}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Lines of the values that differ. */
function linesOf(before: unknown, after: unknown): Line[] {
  const [from, to] = [valuesOf(before), valuesOf(after)];
  const fields = [...new Set([...Object.keys(from), ...Object.keys(to)])];
  return fields
    .map((field) => ({
      field: nameOf(field),
      from: from[field] ?? null,
      to: to[field] ?? null,
    }))
    .filter((line) => JSON.stringify(line.from) !== JSON.stringify(line.to));
}

function valuesOf(value: unknown): ValuesByName {
  return typeof value === "object" && value !== null ? (value as ValuesByName) : {};
}

/** Puts `expiresAt` and `first_name` in words. Names of connections and plans stay. */
function nameOf(field: string): string {
  if (!/^[a-z]+(?:[A-Z_][A-Za-z]*)*$/.test(field)) return field;
  return field.replaceAll("_", " ").replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;
const AMOUNT = /^-?\d+\.\d+$/;

function showValue(value: unknown, timeZone: string): string {
  if (value === null || value === "") return t.nothing;
  if (typeof value === "boolean") return value ? texts.common.yes : texts.common.no;
  if (typeof value === "string")
    return INSTANT.test(value) ? formatTime(value, timeZone) : AMOUNT.test(value) ? formatAmount(value) : value;
  if (Array.isArray(value)) return value.map((each) => showValue(each, timeZone)).join(", ") || t.nothing;
  if (typeof value !== "object") return JSON.stringify(value);
  const parts = Object.entries(value).map(([field, each]) => `${nameOf(field)}: ${showValue(each, timeZone)}`);
  return parts.join(", ") || t.nothing;
}
