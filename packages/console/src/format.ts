/*
 * Formats of times and amounts. Times follow the provider's clock. Amounts stay decimal strings and never become floating
 * point numbers.
 */

import type { Provider } from "./api/staff-api.d.ts";

const formats = new Map<string, Intl.DateTimeFormat>();

/** Text such as `2026-11-23 14:05`. `of`: an instant (ISO 8601, UTC) or a wall time. */
export function formatTime(of: string, timeZone: string): string {
  return formatSeconds(of, timeZone).slice(0, 16);
}

/** Shows a wall time to the minute. */
export function minuteOf(wall: string): string {
  return formatTime(wall, "UTC");
}

/** Text such as `2026-11-23 14:05:09`. */
export function formatSeconds(of: string, timeZone: string): string {
  return isInstant(of) ? wallOf(Date.parse(of), timeZone) : of;
}

/** Text such as `3 hours ago` or `in 2 days`. `of`: an instant. */
export function formatAge(of: string, now = Date.now()): string {
  const seconds = (Date.parse(of) - now) / 1_000;
  const [size, unit] = AGES.find(([size]) => Math.abs(seconds) >= size) ?? ([1, "second"] as const);
  return new Intl.RelativeTimeFormat("en", { numeric: "auto" }).format(Math.trunc(seconds / size), unit);
}

/** Seconds between two instants. */
export function secondsBetween(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / 1_000;
}

/** Whether a text is an instant or a wall time. */
export function isTime(text: string): boolean {
  return !Number.isNaN(Date.parse(text.replace(" ", "T")));
}

/** Text such as `November 2026`. */
export function monthName(month: string): string {
  const format = new Intl.DateTimeFormat("en", { month: "long", year: "numeric", timeZone: "UTC" });
  return format.format(Date.parse(`${month}-01T00:00:00Z`));
}

const AGES = [
  [86_400, "day"],
  [3_600, "hour"],
  [60, "minute"],
] as const;

type Grouping = Provider["numberGrouping"];

const BOUNDARIES: Readonly<Record<Grouping, RegExp>> = {
  western: /\B(?=(?:\d{3})+$)/g,
  indian: /\B(?=(?:\d{2})*\d{3}$)/g,
};
let grouping: Grouping = "western";

/** Groups all numbers as the provider does. Called before the first page is shown. */
export function groupDigits(way: Grouping): void {
  grouping = way;
}

/** Groups the digits: `12,345.60`. */
export function formatAmount(amount: string): string {
  const [, sign = "", whole = amount, rest = ""] = /^(-?)(\d+)(\.\d+)?$/.exec(amount) ?? [];
  return sign + whole.replace(BOUNDARIES[grouping], ",") + rest;
}

/** Text such as `NPR 12,345.60`, without the currency if none is set. */
export function formatMoney(amount: string, currency: string | null): string {
  return currency === null ? formatAmount(amount) : `${currency} ${formatAmount(amount)}`;
}

export function formatCount(count: number): string {
  return formatAmount(String(count));
}

/** Shortens `1200000` to `1.2M`, or `12L` (lakh) if digits are grouped so. */
export function formatShort(count: number): string {
  if (count < 10_000) return formatCount(count);
  const locale = grouping === "indian" ? "en-IN" : "en";
  return new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: 1 }).format(count);
}

/** Name of days that may not be over: `November 2026` if they begin with a month and stay in it, else the last day. */
export function periodName(from: string, to: string): string {
  if (!from.endsWith("-01") || from.slice(0, 7) !== to.slice(0, 7)) return to;
  return new Intl.DateTimeFormat("en", { month: "long", year: "numeric", timeZone: "UTC" }).format(placeOf(from));
}

/** Text such as `3.4 GiB`. */
export function formatBytes(bytes: number): string {
  const power = Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), UNITS.length - 1);
  const value = bytes / 1024 ** power;
  return `${value.toFixed(value < 10 && power > 0 ? 1 : 0)} ${UNITS[power]}`;
}

/** Milliseconds as seconds: `2.5`. */
export function inSeconds(milliseconds: number): string {
  return String(milliseconds / 1_000);
}

/** Text such as `12 ms`, with two digits. */
export function formatDuration(seconds: number): string {
  return `${formatCount(Number((seconds * 1_000).toPrecision(2)))} ms`;
}

/** Text such as `+12 %`; undefined if there was nothing before. */
export function formatChange(now: number, before: number): string | undefined {
  if (before === 0) return undefined;
  const percent = Math.round((now / before - 1) * 100);
  return percent > 0 ? `+${percent} %` : percent < 0 ? `−${-percent} %` : "0 %";
}

const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB"];

/** Text such as `1 day` or `30 days`. */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** Milliseconds of a wall time or day, to draw and compare: time zones are ignored. */
export function placeOf(wall: string): number {
  return Date.parse(`${wall.slice(0, 10)}T${wall.slice(11) || "00:00:00"}Z`);
}

function isInstant(of: string): boolean {
  return of[10] === "T";
}

function wallOf(milliseconds: number, timeZone: string): string {
  let format = formats.get(timeZone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "medium" });
    formats.set(timeZone, format);
  }
  return format.format(milliseconds);
}
