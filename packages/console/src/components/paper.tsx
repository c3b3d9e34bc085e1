import { type ReactNode, useEffect } from "react";
import { useMe } from "../api/session.tsx";
import { KeyValue } from "./display.tsx";

/** Head of a printed page, with facts; hidden on the screen. */
export function PaperHead({ title, children }: { title: string; children: ReactNode }) {
  const { name, address, number, tax } = useMe().provider.letterhead;
  // CSS cannot copy text of the page into the foot of each sheet.
  useEffect(() => {
    const { style } = document.documentElement;
    style.setProperty("--paper-title", JSON.stringify(title));
    return () => void style.removeProperty("--paper-title");
  }, [title]);
  return (
    <header className="paper stack">
      <div>
        {name !== null && <p className="strong">{name}</p>}
        {[address, number, tax].map((line) => line !== null && <p key={line}>{line}</p>)}
      </div>
      <h2>{title}</h2>
      <KeyValue>{children}</KeyValue>
    </header>
  );
}
