import type { Static } from "typebox";
import type { PlanState } from "../../domain/plan-view.ts";
import type { Period } from "../../domain/wall-time.ts";
import type { ProviderSettings } from "../../store/store.ts";
import type { Shown } from "../operation.ts";
import { blockLines, count, fieldLines, printable, shellWord } from "../text.ts";
import { transactionLines } from "../transactions/presenter.ts";
import type { TransactionListSchema } from "../transactions/schemas.ts";
import type { FoundConnection } from "./find.ts";
import { noteLine } from "./notes.ts";
import type { CustomerSchema, LedgerEntrySchema, LedgersSchema } from "./schemas.ts";

type Customer = Static<typeof CustomerSchema>;

/** A customer with connections, subscriptions and the newest top-ups, for a terminal. */
export function customerText(
  { cuid, firstName, lastName, environment, mobile, status, area, notes, connections }: Customer,
  { items, cursor }: Static<typeof TransactionListSchema>,
  provider: ProviderSettings,
): Shown {
  const profile = fieldLines([
    ["customer", `${cuid} ${firstName} ${lastName} (${environment})`],
    ["mobile", mobile ?? "-"],
    ["status", status],
    ["area", area ?? undefined],
  ]);
  const noted = notes.map((note) => `  ${noteLine(note)}\n`).join("");
  const connected = connections.map((each) => connectionText(each, provider)).join("");
  const parts = `${noted && `\nnotes\n${noted}`}${connected}`;
  if (items.length === 0) return { out: `${profile}${parts}\nNo top-ups.\n` };
  const title = cursor === null ? count(items.length, "top-up") : `The newest ${items.length} top-ups`;
  const list = `topupd transaction list --cuid ${shellWord(cuid)}${environment === "trial" ? " --environment trial" : ""}`;
  return {
    out: `${profile}${parts}\n${title}:\n\n${transactionLines(items)}`,
    note: cursor === null ? "" : `There are more: ${printable(list)}\n`,
  };
}

function connectionText(connection: Customer["connections"][number], { zone }: ProviderSettings): string {
  const { service, reqId, status, segment, blockedByStaff, blockedByRecords } = connection;
  const plans = connection.plans.map(({ plan, state, run }) => {
    const name = run === null ? plan : `${run.name} (${run.bouquetId})`;
    const times = run === null ? "" : `, ${run.start} to ${run.end}, ${daysWords(state, run.daysLeft)}`;
    return `  ${printable(name)}\n    ${state}${times}\n`;
  });
  const title = `${service} ${reqId}  ${status}${segment === null ? "" : `, segment ${segment}`}`;
  const block = blockedByStaff && { ...blockedByStaff, wall: zone.wallTime(Date.parse(blockedByStaff.at)) };
  const blocked = blockLines(block, blockedByRecords).map((line) => `  ${line}`);
  const chain = connection.chain === null ? "" : `  ${printable(connection.chain.text)}\n`;
  return `\n${printable(title)}\n${blocked.join("")}${plans.join("") || "  no subscription\n"}${chain}`;
}

function daysWords(state: PlanState, daysLeft: number): string {
  if (daysLeft === 0) return state === "ended" || state === "reversed" ? "today" : "0 days left";
  return daysLeft < 0 ? `${count(-daysLeft, "day")} ago` : `${count(daysLeft, "day")} left`;
}

type Entry = Static<typeof LedgerEntrySchema>;

/** The ledgers of a connection, entry by entry: they explain when each subscription ends. */
export function explanationText(
  { key, customer, connection, block }: FoundConnection,
  { plans }: Static<typeof LedgersSchema>,
): string {
  const { service, reqId, cuid, environment } = key;
  const name = customer === undefined ? "" : `, ${customer.firstName} ${customer.lastName}`;
  const blocked = blockLines(block, connection?.status === "blocked").join("");
  const title = `${printable(`${service} ${reqId} of customer ${cuid}${name} (${environment})`)}\n${blocked}`;
  if (plans.length === 0) return `${title}\nThere never was a subscription.\n`;
  const parts = plans.map(({ plan, state, run, entries }) => {
    const ends = run === null ? "" : ` ${state === "ended" ? "" : "until "}${run.end}`;
    const lines = entries.map((entry) => {
      const sentences = entrySentences(entry, entries).map((sentence) => `    ${printable(sentence)}\n`);
      return `\n  ${printable(entryTitle(entry))}\n${sentences.join("")}`;
    });
    return `\n${printable(plan)}: ${state}${ends}\n${lines.join("")}`;
  });
  return `${title}${parts.join("")}`;
}

/** Time, kind and author of an entry. */
function entryTitle({ kind, wall, txnId, partner, amount, author, reason, reversedBy }: Entry): string {
  const reversed = reversedBy === null ? "" : ", reversed since";
  switch (kind) {
    case "import":
      return `${wall}  import`;
    case "goodwill":
      return `${wall}  goodwill by ${author}: ${reason}${reversed}`;
    case "reversal":
      return `${wall}  reversal by ${author}: ${reason}`;
    case "top_up":
      if (partner === null) return `${wall}  top-up ${txnId}, which is not on record: see topupd check`;
      return `${wall}  top-up ${txnId} by ${partner}, ${amount}${reversed}`;
  }
}

function entrySentences(entry: Entry, entries: readonly Entry[]): string[] {
  const opening = entry.isOpening ? ["The history before it was deleted."] : [];
  return [changeSentence(entry, entries), ...opening, endSentence(entry)];
}

function changeSentence(entry: Entry, entries: readonly Entry[]): string {
  const { kind, before, period, isOpening, wall } = entry;
  if (kind === "import") return importSentence(entry);
  if (kind === "reversal" || period === null) {
    const reversed = entries.find(({ seq }) => seq === entry.reverses);
    const what = reversed === undefined ? "The reversed entry" : `The ${kindOf(reversed)} of ${reversed.wall}`;
    return `${what} is not counted any more.`;
  }
  const granted = `${entry.bouquetName} (${entry.bouquetId})`;
  const added = periodWords(period);
  if (isOpening) return `${granted}: ${added} came.`;
  if (before === null) return `${granted}: there was no subscription, so a run of ${added} began.`;
  if (before.end > wall) return `${granted}: the run from ${before.start} was still on, and grew by ${added}.`;
  return `${granted}: the run before it had ended ${before.end}, so a new run of ${added} began.`;
}

function importSentence({ asOf, stated, goodwill, after, counted }: Entry): string {
  const run = stated && `${stated.name} (${stated.bouquetId}) from ${stated.start} to ${stated.end}`;
  const said = `By the provider's records as of ${asOf}: ${run ?? "there is none"}`;
  const statedEnd = stated?.end ?? "";
  if (after !== null && after.end < statedEnd) return `${said}; time that was reversed since then is subtracted.`;
  const isMore = after !== null && after.end > statedEnd;
  const came = `${said}${isMore ? "; later top-ups and goodwill are added" : ""}.`;
  if (counted === null || counted.goodwillDays === 0) return came;
  const reading = goodwill === "held" ? "hold" : "lack";
  return `${came} The records ${reading} goodwill; ${count(counted.goodwillDays, "day")} of it are in the end.`;
}

function endSentence({ after, counted }: Entry): string {
  if (after === null || counted === null) return "Nothing is left.";
  const { end } = after;
  const { from, months, days, to } = counted;
  if (months === 0 && days === 0) return `Now it ends ${end}.`;
  // A month without that day ends on its last day.
  const isClamped = months > 0 && days === 0 && from.slice(8, 10) !== to.slice(8, 10);
  const note = isClamped ? ` (${to.slice(0, 7)} has no day ${from.slice(8, 10)}, so its last day counts)` : "";
  const inclusive = end === to ? "" : `, less a second: ${end}`;
  return `Now ${periodWords(counted)} from ${from}, which is ${to}${note}${inclusive}.`;
}

function kindOf({ kind }: Entry): string {
  return kind === "top_up" ? "top-up" : kind;
}

/** Words a period: `4 months`, `1 month and 15 days`. */
export function periodWords({ months, days }: Period): string {
  const parts = [...(months === 0 ? [] : [count(months, "month")]), ...(days === 0 ? [] : [count(days, "day")])];
  return parts.length === 0 ? "no time" : parts.join(" and ");
}
