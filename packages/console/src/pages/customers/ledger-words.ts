import type { LedgerEntry, Plan } from "../../api/staff-api.d.ts";
import { countOf, formatMoney, minuteOf } from "../../format.ts";
import { texts } from "../../texts/index.ts";

const t = texts.customers;

/** Describes an entry: `topped up by Blue Wallet, 1 month for NPR 450.00: ends 2026-12-24 14:05 instead of …`. */
export function entryWords(entry: LedgerEntry, entries: readonly LedgerEntry[], currency: string | null): string {
  const what = whatWords(entry, entries, currency);
  return `${what.charAt(0).toUpperCase()}${what.slice(1)}: ${endWords(entry)}.${entry.isOpening ? ` ${t.opening}.` : ""}`;
}

/** Text such as `1 month and 2 days`. */
export function periodWords({ months, days }: { readonly months: number; readonly days: number }): string {
  const parts = [months > 0 && countOf(months, "month"), days > 0 && countOf(days, "day")];
  return parts.filter((part) => part !== false).join(" and ");
}

/** The end of a plan in words: `until 2026-12-10 10:00 · 20 days left`. */
export function whenWords({ state }: Pick<Plan, "state">, { start, end, daysLeft }: NonNullable<Plan["run"]>): string {
  if (state === "waiting") return t.starts(minuteOf(start));
  const days = countOf(Math.abs(daysLeft), "day");
  if (state === "reversed") return minuteOf(end);
  if (state === "ended" || daysLeft < 0) return t.ended(minuteOf(end), daysLeft === 0 ? t.endedToday : t.ago(days));
  return t.ends(minuteOf(end), daysLeft === 0 ? t.endsToday : t.left(days));
}

function whatWords(entry: LedgerEntry, entries: readonly LedgerEntry[], currency: string | null): string {
  const { kind, period, partner, amount, author, reason, asOf, reverses } = entry;
  const granted = period === null ? "" : periodWords(period);
  switch (kind) {
    case "top_up":
      return t.topUp(granted, partner, amount === null ? null : formatMoney(amount, currency));
    case "goodwill":
      return t.goodwill(granted, author ?? "", reason ?? "");
    case "reversal":
      return t.reversal(reversedWords(entries.find(({ seq }) => seq === reverses)), author ?? "", reason ?? "");
    case "import":
      return t.import(minuteOf(asOf ?? entry.wall));
  }
}

function reversedWords(entry: LedgerEntry | undefined): string {
  if (entry === undefined) return t.reversedUnknown;
  const at = minuteOf(entry.wall);
  return entry.kind === "goodwill" ? t.reversedGoodwill(at) : t.reversedTopUp(at);
}

/** Describes the new end. An ended run is not moved: a new run starts. */
function endWords({ before, after, wall }: LedgerEntry): string {
  if (after === null) return t.nothingLeft;
  const end = minuteOf(after.end);
  if (before === null) return t.runsUntil(end);
  const now = before.bouquetId === after.bouquetId ? "" : `, ${t.nowBouquet(after.name)}`;
  if (before.end === after.end) return `${t.stillEnds(end)}${now}`;
  if (before.end <= wall && after.start >= before.end) return `${t.startsAgain(end)}${now}`;
  return `${t.endsInstead(end, minuteOf(before.end))}${now}`;
}
