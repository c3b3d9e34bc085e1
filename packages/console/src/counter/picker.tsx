import { type KeyboardEvent, type ReactNode, type SubmitEvent, useEffect, useRef, useState } from "react";
import { Pause } from "./pause.ts";

interface StepProps {
  /** Selects the element that takes the focus when the step appears. */
  readonly focus: string;
  /** Whether the step's form sells: then it can be sent only after a pause. */
  readonly sells?: boolean;
  readonly children: ReactNode;
}

/** A step of a sale. */
export function Step({ focus, sells = false, children }: StepProps) {
  const step = useRef<HTMLDivElement>(null);
  const [pause] = useState(() => new Pause());
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new step takes the focus
  useEffect(() => {
    step.current?.querySelector<HTMLElement>(focus)?.focus();
    pause.restart();
  }, []);
  const ignoreHasty = (event: SubmitEvent) => {
    if (pause.restart()) return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it handles keys of the controls inside
    <div
      ref={step}
      className="step stack"
      onKeyDown={ignoreHeldEnter}
      onSubmitCapture={sells ? ignoreHasty : undefined}
    >
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
