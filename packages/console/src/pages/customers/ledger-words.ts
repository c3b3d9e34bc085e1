import type { Connection, LedgerEntry, PlanLedger, Run, Subscription } from "../../api/staff-api.d.ts";
import type { Mark, Span } from "../../components/time-line.tsx";
import { countOf, formatMoney, formatTime, placeOf } from "../../format.ts";
import { texts } from "../../texts/index.ts";

const t = texts.customers;

/** Describes an entry: `topped up by Blue Wallet, 1 month for NPR 450.00: ends 2026-12-24 14:05 instead of …`. */
export function entryWords(entry: LedgerEntry, entries: readonly LedgerEntry[], currency: string | null): string {
  const what = whatWords(entry, entries, currency);
  return `${what.charAt(0).toUpperCase()}${what.slice(1)}: ${endWords(entry)}.${entry.isOpening ? ` ${t.opening}.` : ""}`;
}

/** Such as `1 month and 2 days`. */
export function periodWords({ months, days }: { readonly months: number; readonly days: number }): string {
  const parts = [months > 0 && countOf(months, "month"), days > 0 && countOf(days, "day")];
  return parts.filter((part) => part !== false).join(" and ");
}

/** Shows a wall time to the minute. */
export function minuteOf(wall: string): string {
  return formatTime(wall, "UTC");
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

/** A run that was over before it, or that follows another, has an end of its own: the former is not moved. */
function endWords({ before, after, wall }: LedgerEntry): string {
  if (after === null) return t.nothingLeft;
  const end = minuteOf(after.end);
  if (before === null) return t.runsUntil(end);
  const now = before.bouquetId === after.bouquetId ? "" : `, ${t.nowBouquet(after.name)}`;
  if (before.end === after.end) return t.stillEnds(end) + now;
  if (before.end <= wall && after.start >= before.end) return t.startsAgain(end) + now;
  return t.endsInstead(end, minuteOf(before.end)) + now;
}

const DAY_MS = 86_400_000;

/** Time lines of a connection: one for each plan, with its runs and events. */
export function spansOf({ subscriptions }: Connection, ledgers: readonly PlanLedger[], now: string): Span[] {
  const plans = new Set([...subscriptions, ...ledgers].map(({ plan }) => plan));
  return [...plans].flatMap((plan) => {
    const ledger = ledgers.find((each) => each.plan === plan);
    const subscription = subscriptions.find((each) => each.plan === plan);
    const past = pastRuns(ledger);
    const shown = subscription ?? ledger?.run ?? past.pop();
    if (shown === undefined) return [];
    const { name, start, end } = shown;
    const tone = toneOf({ addOn: false, ...subscription, start, end }, now);
    return [{ id: plan, label: name, start, end, tone, when: whenWords(shown, now), past, marks: marksOf(ledger) }];
  });
}

function toneOf({ start, end, addOn }: Pick<Subscription, "start" | "end" | "addOn">, now: string): Span["tone"] {
  if (end <= now) return "over";
  if (start > now) return "waiting";
  return addOn ? "add-on" : "running";
}

function whenWords({ start, end }: Pick<Run, "start" | "end">, now: string): string {
  if (end <= now) return t.ended(minuteOf(end));
  if (start > now) return t.starts(minuteOf(start));
  const days = Math.floor((placeOf(end) - placeOf(now)) / DAY_MS);
  return t.ends(minuteOf(end), days === 0 ? t.leftToday : t.left(countOf(days, "day")));
}

/** Runs that ended or that a later run replaced. */
function pastRuns(ledger: PlanLedger | undefined): Run[] {
  return (ledger?.entries ?? []).flatMap(({ before, after }) => {
    const isOver = before !== null && (after === null || after.start >= before.end);
    return isOver ? [before] : [];
  });
}

function marksOf(ledger: PlanLedger | undefined): Mark[] {
  return (ledger?.entries ?? []).flatMap(({ seq, kind, wall, reversedBy }) => {
    if (kind !== "top_up" && kind !== "goodwill") return [];
    return [{ id: String(seq), at: wall, tone: reversedBy === null ? kind : ("reversed" as const) }];
  });
}
