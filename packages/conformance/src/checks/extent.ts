import type { VersionFacts } from "../facts.ts";
import { addPeriod, DAY_MS, periodIn, readTimestamp, withoutPeriod } from "../period.ts";
import { asText, isTimestamp, member } from "../shape.ts";
import { fails, HOLDS, skipped, type Verdict } from "../verdict.ts";
import { entriesOf } from "./listing.ts";

/**
 * Months are counted from the start of the run, whose day the month in between may not have had: a run from the 31st
 * that ends on 28 February goes on to 31 March.
 */
const SLACK_OF_MONTHS_MS = 3 * DAY_MS + DAY_MS / 8;
/** What a change of clocks makes, and less than the shortest period. */
const SLACK_OF_DAYS_MS = DAY_MS / 8;

interface Shown {
  readonly code: string;
  readonly plan: string;
  readonly start: string;
  readonly end: string;
}

/** Whether a top-up has extended its subscription by the period in the bouquet's name, no less and no more. */
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
  if (period === undefined || now === undefined) return skipped("the listing does not show what was bought");
  const from = formerOf(now, before, after)?.end ?? now.start;
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

/** The same run before the top-up; none where the top-up has begun it. */
function formerOf(now: Shown, before: readonly Shown[], after: readonly Shown[]): Shown | undefined {
  const sameRun = before.filter(({ start, end }) => start === now.start && end <= now.end);
  const isGone = ({ code }: Shown) => !after.some((each) => each.code === code);
  return (
    sameRun.find(({ code }) => code === now.code) ??
    sameRun.find(({ plan }) => plan === now.plan) ??
    // Of a plan with another name.
    sameRun.find(isGone)
  );
}
