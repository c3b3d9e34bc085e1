import {
  appendGrant,
  decideReversal,
  type Entry,
  GOODWILL_READINGS,
  headOf,
  type Ledger,
  type Reversal,
} from "../../src/domain/ledger.ts";
import { decideImport, resetLedger } from "../../src/domain/ledger-import.ts";
import { keptEntries } from "../../src/domain/ledger-retention.ts";
import type { StatedSubscription, Subscription } from "../../src/domain/subscription.ts";
import { type Moment, type Period, readWallTime } from "../../src/domain/wall-time.ts";

/*
 * Stories of one subscription, as in the tables of docs/ledger.md: a day, an event, and the end of the subscription
 * after it. Days without a year are of 2027 and begin at midnight, UTC.
 */

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const YEAR = "2027";
const PLAN = "Fiber";
const BOUQUET = { code: "F-1", name: "Fiber (MONTHLY)", addOn: false };
const STAFF = { author: "maya", reason: "ticket 17" };

export type StoryLine = readonly [day: string, happening: string, outcome: string];

/** Reads lines such as `10 Jan | top-up of 1 month | 1 Mar`. */
export function readStory(text: string): StoryLine[] {
  const lines = text.split("\n").filter((line) => line.includes("|"));
  return lines.map((line) => line.split("|").map((cell) => cell.trim()) as [string, string, string]);
}

/** The story with the actual outcome of each line, in the words of the expected one. */
export function playStory(story: readonly StoryLine[], unit: "month" | "day" = "month"): StoryLine[] {
  let ledger: Ledger = { plan: PLAN, entries: [] };
  return story.map(([day, happening, told]) => {
    const done = happen(ledger, happening, moment(day), unit);
    if (Array.isArray(done)) ledger = { plan: PLAN, entries: done };
    else if (typeof done === "object") ledger = { plan: PLAN, entries: [...ledger.entries, done as Entry] };
    const { subscription } = headOf(ledger);
    const runs = told.includes(" to ") ? `${words(subscription?.start)} to ${words(subscription?.end)}` : undefined;
    return [day, happening, `${runs ?? words(subscription?.end)}${typeof done === "string" ? `, ${done}` : ""}`];
  });
}

/** @returns the entry, the refusal, or the remaining entries. */
function happen(
  ledger: Ledger,
  happening: string,
  at: Moment,
  unit: StatedSubscription["unit"],
): Entry | readonly Entry[] | string {
  const read = (form: RegExp) => form.exec(happening)?.slice(1) as [string, string, string] | undefined;
  const topUp = read(/^top-up of (\d+ \w+)$/);
  if (topUp !== undefined) {
    const txnId = `T${ledger.entries.length + 1}`;
    return appendGrant(headOf(ledger), { kind: "top_up", txnId, bouquet: BOUQUET, period: period(topUp[0]) }, at);
  }
  const goodwill = read(/^(\d+ days?) of goodwill$/);
  if (goodwill !== undefined) {
    const grant = { kind: "goodwill", bouquet: BOUQUET, period: period(goodwill[0]), ...STAFF } as const;
    return appendGrant(headOf(ledger), grant, at);
  }
  const reversed = read(/^reversal of the (top-up|goodwill) of (.+)$/);
  if (reversed !== undefined) {
    const reversal: Reversal = { kind: "reversal", of: entryOf(ledger, reversed[0], reversed[1]), ...STAFF };
    return decideReversal(ledger, reversal, at);
  }
  const prune = read(/^history before (.+) goes$/);
  if (prune !== undefined) return keptEntries(ledger.entries, moment(prune[0]));
  const reset = read(/^reset: (.+)$/);
  const file = read(/^file as of ([^:]+(?::\d\d)*): ([^,]+)(.*)$/);
  if (reset === undefined && file === undefined) throw new Error(`nobody knows what happens here: ${happening}`);
  const [asOf, stated, how] = file ?? ["", reset?.[0] ?? "", ""];
  const rules = {
    toleranceDays: Number(/\d+/.exec(how ?? "")?.[0] ?? 1),
    allowsShorter: how?.includes("shorter allowed") === true,
    goodwill: GOODWILL_READINGS.find((reading) => how?.includes(`goodwill ${reading}`)),
  };
  const decision =
    reset === undefined
      ? decideImport(ledger, subscription(stated, unit), { asOf: moment(asOf), now: at, ...rules })
      : resetLedger(ledger, subscription(stated, unit), at);
  if (decision.kind === "changed") return decision.entry;
  if (decision.kind === "unchanged") return "no entry";
  return decision.goodwill === undefined ? "held back" : "goodwill unclear";
}

function entryOf({ entries }: Ledger, what: string, day: string): number {
  const { wall } = moment(day);
  const kind = what === "top-up" ? "top_up" : "goodwill";
  return entries.find((entry) => entry.kind === kind && entry.at.wall === wall)?.seq ?? 0;
}

function period(text: string): Period {
  const [count, unit] = text.split(" ") as [string, string];
  return unit.startsWith("month") ? { months: Number(count), days: 0 } : { months: 0, days: Number(count) };
}

function subscription(text: string, unit: StatedSubscription["unit"]): StatedSubscription | undefined {
  if (text === "nothing") return undefined;
  const [start, end] = text.split(" to ").map((each) => moment(each).wall) as [string, string];
  return { plan: PLAN, bouquet: BOUQUET, start, end, unit };
}

/** @param text such as `9 Jan`, `9 Jan 2028` or `28 Feb 23:59:59`. */
function moment(text: string): Moment {
  const found = /^(\d+) (\w{3})(?: (\d{4}))?(?: (\d\d:\d\d:\d\d))?$/.exec(text);
  const [, day = "", month = "", year = YEAR, time = "00:00:00"] = found ?? [];
  const number = String(MONTHS.indexOf(month) + 1).padStart(2, "0");
  const wall = `${year}-${number}-${day.padStart(2, "0")} ${time}`;
  const instant = readWallTime(wall);
  if (instant === undefined) throw new Error(`${text} is no day`);
  return { instant, wall };
}

function words(wall: Subscription["end"] | undefined): string {
  if (wall === undefined) return "nothing";
  const [, year = "", month = "", day = "", time = ""] = /^(\d+)-(\d+)-(\d+) (.*)$/.exec(wall) ?? [];
  const parts = [Number(day), MONTHS[Number(month) - 1], year === YEAR ? "" : year, time === "00:00:00" ? "" : time];
  return parts.filter((part) => part !== "").join(" ");
}
