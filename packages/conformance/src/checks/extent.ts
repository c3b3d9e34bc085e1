import type { VersionFacts } from "../facts.ts";
import { asText, isTimestamp, member } from "../shape.ts";
import { fails, HOLDS, skipped, type Verdict } from "./check.ts";
import { entriesOf } from "./listing.ts";

const DAY_MS = 86_400_000;

/** Months count from the start of the run: a run from the 31st that ends on 28 February continues to 31 March. */
const SLACK_OF_MONTHS_MS = 3 * DAY_MS + DAY_MS / 8;
/** Covers a change of clocks, and is less than the shortest period. */
const SLACK_OF_DAYS_MS = DAY_MS / 8;

interface Shown {
  readonly code: string;
  readonly plan: string;
  readonly start: string;
  readonly end: string;
}

/** Whether a top-up extended its subscription by exactly the period in the bouquet's name. */
export function judgeExtent({ spending }: VersionFacts): Verdict {
  if (spending?.plan === undefined || spending.before === undefined || spending.after === undefined) {
    return skipped("no top-up has succeeded");
  }
  const { bouquetId, bouquetName, connection } = spending.plan;
  const period = periodIn(bouquetName);
  const [before, after] = [spending.before, spending.after].map((exchange) =>
    entriesOf(exchange, connection.service, "subscriptions").flatMap(readShown),
  ) as [Shown[], Shown[]];
  const now = after.filter(({ code }) => code === bouquetId).toSorted((a, b) => (a.end < b.end ? 1 : -1))[0];
  if (period === undefined || now === undefined) return skipped("the listing does not show the bought bouquet");
  const from = previousOf(now, before, after)?.end ?? now.start;
  const extentMs = readTimestamp(now.end) - readTimestamp(from);
  const expectedMs = addPeriod(readTimestamp(from), period) - readTimestamp(from);
  const slackMs = period.months > 0 ? SLACK_OF_MONTHS_MS : SLACK_OF_DAYS_MS;
  if (Math.abs(extentMs - expectedMs) <= slackMs) return HOLDS;
  const inDays = (ms: number) => `an enddate that is ${Math.round(ms / DAY_MS)} days later`;
  return fails(inDays(expectedMs), inDays(extentMs));
}

function readShown(entry: unknown): Shown[] {
  const [code = "", name = ""] = [asText(member(entry, "code")), asText(member(entry, "name"))];
  const [start, end] = [member(entry, "startdate"), member(entry, "enddate")];
  return isTimestamp(start) && isTimestamp(end) ? [{ code, plan: withoutPeriod(name), start, end }] : [];
}

/** The same run before the top-up; undefined if the top-up began it. */
function previousOf(now: Shown, before: readonly Shown[], after: readonly Shown[]): Shown | undefined {
  const sameRun = before.filter(({ start, end }) => start === now.start && end <= now.end);
  const isGone = ({ code }: Shown) => !after.some((each) => each.code === code);
  return (
    sameRun.find(({ code }) => code === now.code) ??
    sameRun.find(({ plan }) => plan === now.plan) ??
    // The plan may have another name now.
    sameRun.find(isGone)
  );
}

/** Periods in a bouquet's name (docs/decisions.md, Bouquets and the catalogue). */
export const PERIODS = /\((?:DAILY|WEEKLY|MONTHLY|QUARTERLY|HALF YEARLY|YEARLY|\d{1,4} DAYS|\d{1,3} MONTHS)\)/g;

const NAMED: Readonly<Record<string, Period>> = {
  DAILY: { months: 0, days: 1 },
  WEEKLY: { months: 0, days: 7 },
  MONTHLY: { months: 1, days: 0 },
  QUARTERLY: { months: 3, days: 0 },
  "HALF YEARLY": { months: 6, days: 0 },
  YEARLY: { months: 12, days: 0 },
};

interface Period {
  readonly months: number;
  readonly days: number;
}

/** The one period in a bouquet's name; undefined without one, or with two. */
function periodIn(name: string): Period | undefined {
  const found = name.match(PERIODS) ?? [];
  const words = found[0]?.slice(1, -1);
  if (words === undefined || found.length > 1) return undefined;
  const [count = "", unit] = words.split(" ");
  if (unit === "DAYS") return { months: 0, days: Number(count) };
  return unit === "MONTHS" ? { months: Number(count), days: 0 } : NAMED[words];
}

/** A name without its period, which all bouquets of a plan share. */
function withoutPeriod(name: string): string {
  return name.replace(PERIODS, "").replace(/\s+/g, " ").trim();
}

/** A timestamp in milliseconds without a zone. */
function readTimestamp(text: string): number {
  return Date.parse(`${text.replace(" ", "T")}Z`);
}

/** Adds calendar months; a short month gives its last day. */
function addPeriod(time: number, { months, days }: Period): number {
  const from = new Date(time);
  const [year, month] = [from.getUTCFullYear(), from.getUTCMonth() + months];
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const day = Math.min(from.getUTCDate(), lastDay) + days;
  return Date.UTC(year, month, day) + (time % DAY_MS);
}
