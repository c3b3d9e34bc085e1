import * as Radix from "@radix-ui/react-tabs";
import { type ReactNode, useEffect, useRef } from "react";
import { useFilters } from "./filters.tsx";

interface Tab {
  readonly id: string;
  readonly label: string;
  readonly content: ReactNode;
}

/** Tabs of a page. The address keeps the open tab; only that one is rendered. */
export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }) {
  const [{ tab }, setFilters] = useFilters(["tab"]);
  const shown = tabs.find(({ id }) => id === tab) ?? tabs[0];
  const chosen = useRef<HTMLButtonElement>(null);
  const open = shown?.id;
  useEffect(() => {
    if (open !== undefined) chosen.current?.parentElement?.scrollTo({ left: chosen.current.offsetLeft });
  }, [open]);
  return (
    <Radix.Root value={open ?? ""} onValueChange={(next) => setFilters({ tab: next })} activationMode="manual">
      <Radix.List className="tabs" aria-label={label}>
        {tabs.map(({ id, label: text }) => (
          <Radix.Trigger key={id} value={id} className="tab" ref={id === open ? chosen : null}>
            {text}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map(({ id, content }) => (
        <Radix.Content key={id} value={id} className="tab-content stack">
          {content}
        </Radix.Content>
      ))}
    </Radix.Root>
  );
}
