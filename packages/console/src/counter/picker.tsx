import { type KeyboardEvent, type ReactNode, useEffect, useRef } from "react";

/** A step of a sale: an element of it takes the focus when it appears. @param focus selects it */
export function Step({ focus, children }: { focus: string; children: ReactNode }) {
  const step = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new step takes the focus
  useEffect(() => step.current?.querySelector<HTMLElement>(focus)?.focus(), []);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it handles keys of the controls inside
    <div ref={step} className="step stack" onKeyDown={ignoreHeldEnter}>
      {children}
    </div>
  );
}

/** An Enter that is held down must not run through the steps up to a sale. */
function ignoreHeldEnter(event: KeyboardEvent): void {
  if (event.key === "Enter" && event.repeat) event.preventDefault();
}

export interface Pick {
  readonly key: string;
  readonly content: ReactNode;
  /** Undefined if it cannot be chosen. */
  readonly onPick: (() => void) | undefined;
}

/** A list to choose from, by a tap, or by the arrow keys and Enter. */
export function Picker({ label, picks }: { label: string; picks: readonly Pick[] }) {
  return (
    <ul className="picker" aria-label={label} onKeyDown={walk}>
      {picks.map(({ key, content, onPick }) => (
        <li key={key}>
          {onPick === undefined ? (
            <div className="pick">{content}</div>
          ) : (
            <button type="button" className="pick" onClick={onPick}>
              {content}
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}

const WAYS: Readonly<Record<string, "nextElementSibling" | "previousElementSibling">> = {
  ArrowDown: "nextElementSibling",
  ArrowUp: "previousElementSibling",
};

function walk(event: KeyboardEvent): void {
  const way = WAYS[event.key];
  if (way === undefined || !(event.target instanceof Element)) return;
  event.preventDefault();
  let item: Element | null | undefined = event.target.closest("li");
  let next: HTMLElement | null | undefined;
  do {
    item = item?.[way];
    next = item?.querySelector<HTMLElement>("button");
  } while (item && !next);
  next?.focus();
}
