import { type ReactNode, useEffect, useRef } from "react";
import { ApiProblem } from "../api/problem.ts";
import { texts } from "../texts/index.ts";
import { Button, Icon } from "./button.tsx";

/** Replaces an empty list: its meaning and the next step. */
export function EmptyState({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children !== undefined && <p className="muted">{children}</p>}
      {action}
    </div>
  );
}

export function Loading() {
  return (
    <p className="row loading muted" role="status">
      <span className="spinner" aria-hidden="true" />
      {texts.common.loading}
    </p>
  );
}

interface ErrorNoteProps {
  readonly error: unknown;
  readonly onRetry?: () => void;
  /** Whether the error belongs to a change, which may have worked. */
  readonly ofChange?: boolean;
  /** Fields whose problems are shown elsewhere. */
  readonly except?: readonly string[];
}

/** An error with the message of the API. */
export function ErrorNote({ error, onRetry, ofChange = false, except = [] }: ErrorNoteProps) {
  const all = error instanceof ApiProblem ? (error.problem.fields ?? []) : [];
  const fields = all.filter(({ field }) => !except.includes(field));
  const message = error instanceof Error ? error.message : texts.common.failed;
  return (
    <Note tone="danger">
      <p>{message}</p>
      {fields.length > 0 && (
        <ul>
          {fields.map(({ field, problem: what }) => (
            <li key={`${field} ${what}`}>
              {field}: {what}
            </li>
          ))}
        </ul>
      )}
      {ofChange && error instanceof ApiProblem && error.mayBeDone && <p>{texts.common.mayBeDone}</p>}
      {onRetry !== undefined && <Button onClick={onRetry}>{texts.common.tryAgain}</Button>}
    </Note>
  );
}

export type Tone = "neutral" | "info" | "success" | "warning" | "danger";

/** A few highlighted sentences. Screen readers read a danger at once. */
export function Note({ tone = "info", children }: { tone?: Tone; children: ReactNode }) {
  const urgent = tone === "danger";
  return (
    <div className={`note tone-${tone}`} role={urgent ? "alert" : undefined} tabIndex={urgent ? -1 : undefined}>
      <Icon name={tone === "success" ? "check" : tone === "info" || tone === "neutral" ? "info" : "alert"} />
      <div className="note-body">{children}</div>
    </div>
  );
}

interface LoadedProps<Data> {
  /** A result of useApi or usePoll. */
  readonly of: {
    readonly data: Data | undefined;
    readonly error: ApiProblem | null;
    readonly refetch: () => unknown;
  };
  readonly children: (data: Data) => ReactNode;
}

export function ReloadButton({ of: { isFetching, refetch } }: { of: { isFetching: boolean; refetch: () => unknown } }) {
  return (
    <Button busy={isFetching} onClick={() => void refetch()}>
      {texts.common.reload}
    </Button>
  );
}

/** Shows a query's data, its loading state or its error. */
export function Loaded<Data>({ of: { data, error, refetch }, children }: LoadedProps<Data>) {
  if (data !== undefined) return children(data);
  if (error !== null) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  return <Loading />;
}

/** Warns that a live page shows old data, since it could not be read again. */
export function StaleNote({ of: { data, error, refetch } }: Pick<LoadedProps<unknown>, "of">) {
  return data !== undefined && error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />;
}

export function Progress({ label, done, of = 1 }: { label: string; done: number; of?: number }) {
  const percent = Math.round(Math.min(Math.max(done / of, 0), 1) * 100);
  return (
    <div className="row progress">
      <span>{label}</span>
      <progress max={100} value={percent} aria-label={label} />
      <span className="number">{percent} %</span>
    </div>
  );
}

/** Result below a form. It takes the focus when it appears; a new `key` makes a new result. */
export function Result({ children }: { children: ReactNode }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => place.current?.focus(), []);
  return (
    <div ref={place} className="result stack" tabIndex={-1}>
      {children}
    </div>
  );
}
