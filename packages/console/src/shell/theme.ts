import { useState } from "react";
import { readStored, store } from "../storage.ts";

const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

/** Call before the first render, so that the colours do not change visibly. */
export function applyStoredTheme(): void {
  apply(storedTheme());
}

export function useTheme() {
  const [theme, setTheme] = useState(storedTheme);
  const choose = (next: Theme) => {
    store("theme", next === "system" ? null : next);
    apply(next);
    setTheme(next);
  };
  return { theme, themes: THEMES, choose };
}

function storedTheme(): Theme {
  const stored = readStored("theme");
  return THEMES.find((theme) => theme === stored) ?? "system";
}

function apply(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}
