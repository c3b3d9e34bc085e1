import { useEffect, useEffectEvent, useState } from "react";
import { useLocation } from "wouter";
import { Checkbox } from "../components/controls.tsx";
import { Dialog } from "../components/dialog.tsx";
import type { PageRoute } from "../routes.ts";
import { readStored, store } from "../storage.ts";
import { texts } from "../texts/index.ts";

const t = texts.shell;

/** Keyboard shortcuts: `/` searches, `?` lists the shortcuts, `g` and a letter open a page. */
export function Keys({ routes, open, onOpenChange }: KeysProps) {
  const [, navigate] = useLocation();
  const [isOn, setOn] = useState(() => readStored("keys") !== "off");
  const [afterG, setAfterG] = useState(false);

  const press = useEffectEvent((event: KeyboardEvent) => {
    if (!isOn || event.ctrlKey || event.metaKey || event.altKey || isBusy(event.target)) return;
    setAfterG(event.key === "g" && !afterG);
    const page = afterG ? routes.find(({ nav }) => nav?.key === event.key) : undefined;
    if (page !== undefined) navigate(page.path);
    else if (event.key === "/") focusSearch();
    else if (event.key === "?") onOpenChange(true);
    else return;
    event.preventDefault();
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent) => press(event);
    document.addEventListener("keydown", listener);
    return () => document.removeEventListener("keydown", listener);
  }, []);

  const keys = [
    ["/", t.keySearch],
    ["?", t.keyHelp],
    ["↑ ↓", t.keyRows],
    ...routes.flatMap(({ nav, title }) => (nav === undefined ? [] : [[`g ${nav.key}`, t.keyGo(title)]])),
  ];
  const choose = (next: boolean) => {
    store("keys", next ? null : "off");
    setOn(next);
  };
  if (!open) return null;
  return (
    <Dialog onClose={() => onOpenChange(false)} title={t.keys} description={t.keysHint}>
      <Checkbox name="keys" label={t.keysOn} checked={isOn} onChange={({ target }) => choose(target.checked)} />
      <dl className="keys">
        {keys.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

interface KeysProps {
  readonly routes: readonly PageRoute[];
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
}

/** Whether a text field has the focus, or a dialog or menu is open. */
function isBusy(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  return target.closest("input, textarea, select, [role=dialog], [role=menu], [contenteditable]") !== null;
}

/** Focuses the search field of the header. */
function focusSearch(): void {
  const field = document.querySelector<HTMLInputElement>("header input[type=search]");
  field?.focus();
  field?.select();
}
