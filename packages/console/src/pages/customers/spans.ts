import type { Connection, PlanLedger, Run, Subscription } from "../../api/staff-api.d.ts";
import type { Mark, Span } from "../../components/time-line.tsx";
import { countOf, minuteOf, placeOf } from "../../format.ts";
import { texts } from "../../texts/index.ts";

const t = texts.customers;
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
  const days = Math.floor(Math.abs(placeOf(end) - placeOf(now)) / DAY_MS);
  if (end <= now) return t.ended(minuteOf(end), days === 0 ? t.agoToday : t.ago(countOf(days, "day")));
  if (start > now) return t.starts(minuteOf(start));
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
