import type { Entry } from "../../domain/ledger.ts";
import type { Period } from "../../domain/period.ts";
import type { ExplainedEntry, ExplainedPlan } from "../../services/staff/subscriptions.ts";
import { count, isoTime, printable } from "./text.ts";
import { amountOf, partnerName, type Showing, subscriptionJson } from "./transactions.ts";

/*
 * The entries of a ledger, read aloud.
 */

/** When, what it is, and whose. */
export function entryTitle({ entry, reversedBy, transaction }: ExplainedEntry, showing: Showing): string {
  const when = entry.at.wall;
  const reversed = reversedBy === undefined ? "" : ", reversed since";
  switch (entry.kind) {
    case "import":
      return `${when}  import`;
    case "goodwill":
      return printable(`${when}  goodwill by ${entry.author}: ${entry.reason}${reversed}`);
    case "reversal":
      return printable(`${when}  reversal by ${entry.author}: ${entry.reason}`);
    case "top_up": {
      if (transaction === undefined) return `${when}  top-up ${entry.txnId}, which is not on record: see topupd check`;
      const paid = `${partnerName(transaction, showing)}, ${amountOf(transaction.amount, showing)}`;
      return printable(`${when}  top-up ${entry.txnId} by ${paid}${reversed}`);
    }
  }
}

/** What an entry did, in sentences: what came, and how the end after it is counted. */
export function entryWords(explained: ExplainedEntry, { entries }: Pick<ExplainedPlan, "entries">): string {
  const { entry, isOpening } = explained;
  const opening = isOpening ? ["What there was before it was let go."] : [];
  return printable([whatCame(explained, entries), ...opening, howItEnds(entry)].join(" "));
}

function whatCame({ entry, before, isOpening }: ExplainedEntry, entries: readonly ExplainedEntry[]): string {
  if (entry.kind === "import") return whatWasStated(entry);
  if (entry.kind === "reversal") {
    const taken = entries.find((each) => each.entry.seq === entry.of)?.entry;
    const what = taken === undefined ? "What was granted" : `The ${kindOf(taken)} of ${taken.at.wall}`;
    return `${what} is not counted any more.`;
  }
  const came = `${entry.bouquet.name} (${entry.bouquet.code})`;
  const added = periodWords(entry.period);
  if (isOpening) return `${came}: ${added} came.`;
  if (before === undefined) return `${came}: there was no subscription, so a run of ${added} began.`;
  if (before.end > entry.at.wall) return `${came}: the run from ${before.start} was still on, and grew by ${added}.`;
  return `${came}: the run before it had ended ${before.end}, so a new run of ${added} began.`;
}

function whatWasStated({ asOf, stated, after }: Extract<Entry, { kind: "import" }>): string {
  const records = `By the provider's records as of ${asOf.wall}:`;
  const said =
    stated === undefined
      ? "there is none"
      : `${stated.bouquet.name} (${stated.bouquet.code}) from ${stated.start} to ${stated.end}`;
  const end = stated === undefined ? "" : stated.end;
  const isLess = after !== undefined && after.end < end;
  if (isLess) return `${records} ${said}; a top-up of before then, which was reversed since, was taken off.`;
  const isMore = after !== undefined && after.end > end;
  return `${records} ${said}${isMore ? "; top-ups of after then and goodwill came on top" : ""}.`;
}

function howItEnds({ after }: Entry): string {
  if (after === undefined) return "Nothing is left.";
  const { anchor, months, days, end } = after;
  if (months === 0 && days === 0) return `Now it ends ${end}.`;
  // A month that has no such day ends on its last one.
  const isClamped = months > 0 && days === 0 && anchor.slice(8, 10) !== end.slice(8, 10);
  const note = isClamped ? ` (${end.slice(0, 7)} has no day ${anchor.slice(8, 10)}, so its last day counts)` : "";
  return `Now ${periodWords(after)} from ${anchor}, which is ${end}${note}.`;
}

function kindOf({ kind }: Entry): string {
  return kind === "top_up" ? "top-up" : kind;
}

/** `4 months`, `1 month and 15 days`; what is zero is left out. */
function periodWords({ months, days }: Period): string {
  const parts = [...(months === 0 ? [] : [count(months, "month")]), ...(days === 0 ? [] : [count(days, "day")])];
  return parts.length === 0 ? "no time" : parts.join(" and ");
}

export function entryJson(explained: ExplainedEntry, plan: ExplainedPlan, showing: Showing) {
  const { entry, before, isOpening, reversedBy, transaction } = explained;
  const isReasoned = entry.kind === "goodwill" || entry.kind === "reversal";
  return {
    ...{ seq: entry.seq, kind: entry.kind, at: isoTime(entry.at.instant), wallTime: entry.at.wall },
    txnId: entry.kind === "top_up" ? entry.txnId : null,
    amount: transaction === undefined ? null : amountOf(transaction.amount, showing),
    asOf: entry.kind === "import" ? isoTime(entry.asOf.instant) : null,
    ...{ author: isReasoned ? entry.author : null, reason: isReasoned ? entry.reason : null },
    ...{ reverses: entry.kind === "reversal" ? entry.of : null, reversedBy: reversedBy ?? null, isOpening },
    ...{ before: subscriptionJson(before), after: subscriptionJson(entry.after), words: entryWords(explained, plan) },
  };
}
