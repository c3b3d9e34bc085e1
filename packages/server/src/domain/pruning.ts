import { type Calendar, DAY_MS, type Instant } from "./calendar.ts";
import { checkoutIssuedAt } from "./checkout.ts";
import { civilDate, dayNumber, daysInMonth } from "./civil-date.ts";
import { CORRECTED_WITHIN_MS } from "./course.ts";
import { readDay } from "./day-range.ts";
import { type FoldStep, foldSteps, isWord, placesTakenBack } from "./fold.ts";
import { type Grant, hasEnded } from "./subscription.ts";

/*
 * Which history may be let go of. What is gone must not be missed: neither by the subscription as it is, nor by
 * anything that may still be granted, stated or taken back. Source: decisions, "Letting history go".
 */

/** Checkouts live for minutes, and disputes for weeks: nothing younger than this is ever let go. */
export const SHORTEST_RETENTION_DAYS = 31;

/**
 * How many entries at the beginning of a plan's ledger may go: all of them from before an instant, and none of
 * them of any account for what is left. What is left begins with an entry that gives the same subscription
 * whatever there was before it.
 *
 * - What was granted and what took it back go together or stay together.
 * - The provider's last word stays, and whatever was taken back since: imports are held against them.
 */
export function countPrunable(plan: string, ledger: readonly Grant[], before: Instant, calendar: Calendar): number {
  const firstToStay = ledger.findIndex((grant) => !isFromBefore(grant, before));
  const old = firstToStay === -1 ? ledger.length : firstToStay;
  if (old === 0) return 0;
  const steps = foldSteps(plan, ledger, calendar);
  for (let count = Math.min(old, ledger.length - 1); count > 0; count -= 1) {
    // What is found at once comes first: a ledger may be long.
    if (!beginsAnew(steps[count] as FoldStep, before) || !keepsWhatImportsNeed(steps, count)) continue;
    if (isUncorrected(steps.slice(count), before) && partsNone(ledger, count)) return count;
  }
  return 0;
}

/** A checkout is older than its top-up: once that is gone, the checkout tells by its own time that it may have been. */
function isFromBefore(grant: Grant, before: Instant): boolean {
  if (grant.at >= before) return false;
  return grant.kind !== "top_up" || isCheckoutFromBefore(grant.checkoutId, before);
}

export function isCheckoutFromBefore(checkoutId: string, before: Instant): boolean {
  const issuedAt = checkoutIssuedAt(checkoutId);
  return issuedAt === undefined || issuedAt < before;
}

/**
 * Whether the subscription after an entry is the same as though it were the ledger's first. A top-up is so only
 * as long as it counts: only one that is old itself can stand at the beginning, and it is not reversed any more.
 */
function beginsAnew({ grant, counts, before: state }: FoldStep, before: Instant): boolean {
  if (!counts) return false;
  switch (grant.kind) {
    case "withdrawal":
      return true;
    case "statement":
      return state?.grantedEnd === undefined || grant.start >= state.end;
    case "goodwill":
      return state === undefined || hasEnded(state, grant.at);
    default:
      return isFromBefore(grant, before) && (state === undefined || hasEnded(state, grant.at));
  }
}

/**
 * Whether no word that begins before these, nor the first of them, is measured by a run from before it: none is stated
 * that begins so early, and none can be any more.
 */
function isUncorrected(steps: readonly FoldStep[], before: Instant): boolean {
  for (let begun = steps[0]?.course.begun; begun !== undefined; begun = begun.before.begun) {
    const { run } = begun.before;
    if (run?.grantedEnd === undefined) continue;
    const until = run.end + CORRECTED_WITHIN_MS;
    if (until + DAY_MS > before) return false;
    const isMeasured = ({ grant }: FoldStep, index: number) =>
      grant.kind === "statement" && grant.start < run.end && (index === 0 || grant.at <= until);
    if (steps.some(isMeasured)) return false;
  }
  return true;
}

/** Records that repeat the last word change nothing, and neither do copies of what was taken back since. */
function keepsWhatImportsNeed(steps: readonly FoldStep[], count: number): boolean {
  const word = steps.findLastIndex(isWord);
  if (word >= count) return true;
  if (steps[word]?.grant.kind === "statement") return false;
  return !steps.slice(word + 1, count).some(({ grant }) => grant.kind === "reversal" || grant.kind === "take_back");
}

/** Whether nothing that stays takes back what goes. */
function partsNone(ledger: readonly Grant[], count: number): boolean {
  const [ofAll, ofGone] = [placesTakenBack(ledger), placesTakenBack(ledger.slice(0, count))];
  if ([...ofAll].some(([place, days]) => place < count && days !== ofGone.get(place))) return false;
  const gone = new Set(ledger.slice(0, count).flatMap((grant) => (grant.kind === "top_up" ? [grant.checkoutId] : [])));
  return !ledger.slice(count).some((grant) => grant.kind === "reversal" && gone.has(grant.checkoutId));
}

/** How long history is kept: calendar time of the provider's zone. */
export interface RetentionAge {
  readonly months: number;
  readonly days: number;
}

const AGE = /^([1-9][0-9]{0,4})([ymd])$/;
/** A hundred years, in months and in days: an age beyond them is sooner misspelt than meant. */
const LONGEST_MONTHS = 1_200;
const LONGEST_DAYS = 36_525;

/** Reads `7y`, `18m` or `400d`; undefined for anything else, and for more than a hundred years. */
export function readRetentionAge(text: string): RetentionAge | undefined {
  const [, digits, unit] = AGE.exec(text) ?? [];
  const number = Number(digits);
  const age = {
    months: unit === "y" ? number * 12 : unit === "m" ? number : 0,
    days: unit === "d" ? number : 0,
  };
  const isRead = unit !== undefined && age.months <= LONGEST_MONTHS && age.days <= LONGEST_DAYS;
  return isRead ? age : undefined;
}

/**
 * Where the day begins that is so long ago: what is from before it is old enough. Where the month has no such
 * day, its last one counts.
 * @returns undefined where that is less than {@link SHORTEST_RETENTION_DAYS} ago.
 */
export function startOfRetention(age: RetentionAge, now: Instant, calendar: Calendar): Instant | undefined {
  const [year, month, day] = calendar.format(now).slice(0, 10).split("-").map(Number) as [number, number, number];
  const today = dayNumber(year, month - 1, day);
  const months = year * 12 + month - 1 - age.months;
  const [firstYear, firstMonth] = [Math.floor(months / 12), months % 12];
  const first = dayNumber(firstYear, firstMonth, Math.min(day, daysInMonth(firstYear, firstMonth))) - age.days;
  if (today - first < SHORTEST_RETENTION_DAYS) return undefined;
  const date = civilDate(first);
  return readDay(`${digits(date.year, 4)}-${digits(date.month + 1, 2)}-${digits(date.day, 2)}`, calendar)?.start;
}

function digits(number: number, length: number): string {
  return String(number).padStart(length, "0");
}
