import { DAY_MS } from "../domain/calendar.ts";

const UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: DAY_MS } as const;
const WRITTEN = /^(\d{1,9})([smhd])$/;

/** Reads `0s`, `30m`, `24h` or `7d`. @returns milliseconds; undefined for anything else, and for more than `mostMs`. */
export function readDuration(text: string, mostMs: number): number | undefined {
  const [, number, unit] = WRITTEN.exec(text) ?? [];
  if (number === undefined || unit === undefined) return undefined;
  const ms = Number(number) * UNITS_MS[unit as keyof typeof UNITS_MS];
  return ms <= mostMs ? ms : undefined;
}
