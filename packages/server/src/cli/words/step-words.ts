import type { Calendar, Span } from "../../domain/calendar.ts";
import type { Grant, Subscription } from "../../domain/subscription.ts";
import type { ExplainedStep } from "../../operations/explain-subscription.ts";
import { count, printable } from "./text.ts";
import { amountOf, partnerName, type Showing } from "./transaction-output.ts";

/** Of a top-up that no ledger here knows of. */
export const IMPORTED_WORDS =
  "Recorded at another topupd: its time is in the dates that were imported with the customer.";

/** Who made a grant, and with what. */
export function titleOf({ grant, transaction }: ExplainedStep, showing: Showing): string {
  const when = showing.calendar.format(grant.at);
  if (grant.kind === "goodwill") return `${when}  goodwill`;
  if (grant.kind === "take_back") return `${when}  ${count(grant.days, "goodwill day")} taken back`;
  if (grant.kind === "reversal")
    return `${when}  reversal of ${transaction?.txnId ?? "a top-up that is not on record"}`;
  if (grant.kind !== "top_up") return `${when}  import`;
  if (transaction === undefined) return `${when}  top-up that is not on record: see topupd check`;
  const by = printable(partnerName(transaction, showing));
  const reversed = transaction.status === "reversed" ? ", reversed since" : "";
  return `${when}  top-up ${transaction.txnId} by ${by}, ${amountOf(transaction, showing)}${reversed}`;
}

/** What a grant did, in sentences: what there was before, what came, and how the end after it is counted. */
export function wordsOf(step: ExplainedStep, { calendar }: Pick<Showing, "calendar">): string {
  const { after } = step;
  const sentences = [whatCame(step, calendar), ...(after === undefined ? [] : [howItEnds(step, after, calendar)])];
  return printable(sentences.join(" "));
}

function whatCame(step: ExplainedStep, calendar: Calendar): string {
  if (step.effect === "opening") return `${whatOpened(step.grant, calendar)} What there was before it was let go.`;
  const came = whatCameThen(step, calendar);
  const { grant, effect, daysTakenBack } = step;
  if (grant.kind !== "goodwill" || daysTakenBack === 0 || effect === "reversed") return came;
  const given = count(grant.period.days + daysTakenBack, "day");
  return `${came} ${given} had been given, of which ${daysTakenBack} ${daysTakenBack === 1 ? "was" : "were"} taken back later.`;
}

/** The first that is left of a ledger: it did the same whatever there was before it. */
function whatOpened(grant: Grant, calendar: Calendar): string {
  if (grant.kind === "statement") return whatWasStated(grant, undefined, calendar);
  if (grant.kind !== "top_up" && grant.kind !== "goodwill") return "The subscription was taken back.";
  return `${boughtWords(grant)}: a run of ${spanWords({ ...grant.period, seconds: 0 })} began.`;
}

function takenBackWords(days: number): string {
  const counted = days === 1 ? "is" : "are";
  return `Of the days given for nothing, the last ${count(days, "day")} ${counted} not counted any more.`;
}

function boughtWords({ bouquet }: Extract<Grant, { kind: "top_up" | "goodwill" }>): string {
  return `${bouquet.name} (${bouquet.code})`;
}

function whatCameThen({ grant, before, effect }: ExplainedStep, calendar: Calendar): string {
  if (grant.kind === "reversal") return "That top-up was taken back, and is not counted any more.";
  if (grant.kind === "take_back") return takenBackWords(grant.days);
  if (grant.kind === "withdrawal") {
    return effect === "nothing" || before === undefined
      ? "The subscription was taken back, but there was none."
      : `The subscription was taken back: it would have ended ${calendar.format(before.end)}.`;
  }
  if (effect === "passed_over")
    return "The provider's records spoke of a run that is not there without what was taken back: they are not counted.";
  if (grant.kind === "statement") return whatWasStated(grant, before, calendar);
  const bought = boughtWords(grant);
  if (effect === "reversed") return `${bought}: it was taken back later, so it is not counted.`;
  const added = spanWords({ ...grant.period, seconds: 0 });
  if (before === undefined) return `${bought}: there was no subscription, so a run of ${added} began.`;
  if (effect === "continued")
    return `${bought}: the run from ${calendar.format(before.start)} was still on, and grew by ${added}.`;
  return `${bought}: the run before it had ended ${calendar.format(before.end)}, so a new run of ${added} began.`;
}

function whatWasStated(
  { at, bouquet, start, span, onTop }: Extract<Grant, { kind: "statement" }>,
  before: Subscription | undefined,
  calendar: Calendar,
): string {
  const from = calendar.format(start);
  const to = calendar.format(calendar.asOf(at).add(start, span));
  const said = `By the provider's records: ${bouquet.name} (${bouquet.code}) from ${from} to ${to}`;
  const replaced = before === undefined ? "" : ", in place of what there was before";
  if (onTop.months === 0 && onTop.days === 0) return `${said}${replaced}.`;
  return `${said}${replaced}; ${spanWords({ ...onTop, seconds: 0 })} granted here, which they do not hold, came on top.`;
}

function howItEnds({ grant, oddities }: ExplainedStep, { start, span, end }: Subscription, calendar: Calendar): string {
  const then = calendar.asOf(grant.at).format(end);
  const counted = `Now ${spanWords(span)} from ${calendar.format(start)}, which is ${calendar.format(end)}`;
  const { clamped, shifted } = oddities;
  const notes = [
    ...(clamped === undefined ? [] : [clampedWords(calendar.format(start), calendar.format(clamped))]),
    ...(shifted === undefined ? [] : [`clocks are changed then, and skip ${calendar.format(start).slice(11)}`]),
    ...(then === calendar.format(end) ? [] : [`${then} by the rules that the zone had then`]),
  ];
  return `${counted}${notes.length === 0 ? "" : ` (${notes.join("; ")})`}.`;
}

/** @param start of the run. @param reached the last day of a month that has no such day. */
function clampedWords(start: string, reached: string): string {
  return `${reached.slice(0, 7)} has no day ${start.slice(8, 10)}, so its last day counts`;
}

/** `4 months`, `1 month and 15 days`; what is zero is left out. */
function spanWords({ months, days, seconds }: Span): string {
  const parts = [
    ...(months > 0 ? [count(months, "month")] : []),
    ...(days > 0 ? [count(days, "day")] : []),
    ...(seconds > 0 ? [count(seconds, "second")] : []),
  ];
  const last = parts.pop() ?? "no time";
  return parts.length === 0 ? last : `${parts.join(", ")} and ${last}`;
}
