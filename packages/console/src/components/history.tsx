import type { ReactNode } from "react";
import { Time } from "./display.tsx";

export interface HistoryItem {
  readonly id: string;
  /** An instant or a wall time. */
  readonly at: string;
  /** The event, one sentence. */
  readonly text: ReactNode;
  /** Whether it no longer holds: it is struck out, and the note says why. */
  readonly struck?: boolean;
  readonly note?: ReactNode;
  readonly actions?: ReactNode;
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
            <p>{struck ? <s>{text}</s> : text}</p>
            {note !== undefined && <p className="history-note">{note}</p>}
            {actions !== undefined && <div className="history-actions">{actions}</div>}
          </div>
        </li>
      ))}
    </ol>
  );
}
