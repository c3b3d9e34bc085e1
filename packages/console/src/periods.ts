import { placeOf } from "./format.ts";

const DAY_MS = 86_400_000;

/** Days of the provider's clock, both included. "" means no limit. */
export interface Days {
  readonly from: string;
  readonly to: string;
}

export type Preset = "today" | "yesterday" | "week" | "month" | "lastMonth";

/** The usual periods. `today`: by the provider's clock. */
export function presetDays(today: string): Readonly<Record<Preset, Days>> {
  const first = `${today.slice(0, 7)}-01`;
  const [yesterday, lastOfMonth] = [dayBefore(today, 1), dayBefore(first, 1)];
  return {
    today: { from: today, to: today },
    yesterday: { from: yesterday, to: yesterday },
    week: { from: dayBefore(today, 6), to: today },
    month: { from: first, to: today },
    lastMonth: { from: `${lastOfMonth.slice(0, 7)}-01`, to: lastOfMonth },
  };
}

/** The preset of these days; undefined if there is none. */
export function presetOf({ from, to }: Days, today: string): Preset | undefined {
  const presets = Object.entries(presetDays(today)) as [Preset, Days][];
  return presets.find(([, days]) => days.from === from && days.to === to)?.[0];
}

function dayBefore(day: string, days: number): string {
  return new Date(placeOf(day) - days * DAY_MS).toISOString().slice(0, 10);
}
