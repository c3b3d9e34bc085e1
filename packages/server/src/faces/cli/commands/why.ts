import { Argument, type Command } from "commander";
import { SERVICES } from "../../../domain/bouquet.ts";
import type { Entry } from "../../../domain/ledger.ts";
import type { Period, WallTime } from "../../../domain/wall-time.ts";
import { isoTime } from "../../../domain/wall-time.ts";
import { blockLines, count, printable } from "../../../office/text.ts";
import type { ConnectionRequest, ConnectionUnclear } from "../../../services/staff/connections.ts";
import { blockData } from "../../../services/staff/data.ts";
import { partnerName, type Showing, showingOf } from "../../../services/staff/showing.ts";
import { type ExplainedEntry, type Explanation, explainSubscriptions } from "../../../services/staff/subscriptions.ts";
import { addStoreCommand } from "../command.ts";
import { flags } from "../options.ts";
import { subscriptionJson } from "../output/transactions.ts";
import { CommandFailed, type Runtime, WrongUsage } from "../runtime.ts";

/** `topupd why`: how each end date came to be. */
export function addWhyCommand(program: Command, runtime: Runtime): void {
  addStoreCommand<Pick<ConnectionRequest, "environment" | "cuid">>(program, runtime, {
    name: "why",
    description: "explain the end date of each subscription of a connection, entry by entry",
    // Optional only for commander: of a single word, it takes the last argument to be missing.
    arguments: [
      new Argument("[SERVICE]", "tv, internet or iptv, where several have this REQID"),
      new Argument("[REQID]", "the set-top box number or username"),
    ],
    options: flags.holder("was another's once, or is gone"),
    examples: ["topupd why maya.rai", "topupd why tv 00012345 --cuid 204117"],
    async run({ store, clock, show }, words, { environment, cuid }) {
      const request = { ...readConnection(words), environment, cuid };
      const answer = await explainSubscriptions({ store }, request);
      if (answer.kind !== "explained") {
        const { message } = connectionUnclear(answer, request);
        const isGone = answer.kind === "no_connection" && cuid === undefined;
        throw new CommandFailed(isGone ? `${message}: if it is gone, name its customer with --cuid` : message);
      }
      const { explanation } = answer;
      const showing = await showingOf(store, explanation.connection.environment);
      const { zone } = store.provider;
      const explained = explanationWords(explanation, showing, zone.wallTime(clock()));
      show(explanationJson(explanation, showing), `${explained}\nTimes are those of ${zone.name}.\n`);
    },
  });
}

/** Why it is not clear which connection is meant, and what to add to the command line. */
function connectionUnclear(unclear: ConnectionUnclear, request: ConnectionRequest): CommandFailed {
  const { service, reqId, cuid } = request;
  const asked = service === undefined ? "" : `${service} `;
  if (unclear.kind === "no_connection") {
    const whose = cuid === undefined ? "" : ` of customer ${cuid}`;
    return new CommandFailed(printable(`there is no ${asked}connection ${reqId}${whose}`));
  }
  const lines = unclear.candidates.map(({ connection, customer }) => {
    const name = customer === undefined ? "" : `, ${customer.firstName} ${customer.lastName}`;
    const which = `--environment ${connection.environment} --cuid ${connection.cuid}`;
    return printable(`  ${connection.service} ${connection.reqId} ${which}${name}`);
  });
  return new CommandFailed(`there are several connections ${printable(asked + reqId)}: say which\n${lines.join("\n")}`);
}

function readConnection([first, second]: readonly (string | undefined)[]) {
  const service = SERVICES.find((known) => known === first);
  // A single word is the REQID, unless it is a SERVICE.
  const reqId = service === undefined ? (second ?? first) : second;
  if (reqId === undefined) throw new WrongUsage("missing required argument 'REQID': try topupd why internet maya.rai");
  if (service === undefined && second !== undefined)
    throw new WrongUsage(`SERVICE must be one of ${SERVICES.join(", ")}: try topupd why internet maya.rai`);
  return { service, reqId };
}

function explanationJson({ connection, block, plans }: Explanation, showing: Showing) {
  const entryJson = ({ entry, before, reversedBy, isOpening, transaction }: ExplainedEntry) => ({
    ...{ seq: entry.seq, kind: entry.kind, at: isoTime(entry.at.instant), isOpening, reversedBy: reversedBy ?? null },
    ...{ txnId: transaction?.txnId ?? null, amount: transaction ? showing.formatAmount(transaction.amount) : null },
    ...("reason" in entry ? { author: entry.author, reason: entry.reason } : { author: null, reason: null }),
    asOf: entry.kind === "import" ? isoTime(entry.asOf.instant) : null,
    goodwill: entry.kind === "import" ? entry.goodwill : null,
    reverses: entry.kind === "reversal" ? entry.of : null,
    ...{ before: subscriptionJson(before), after: subscriptionJson(entry.after) },
  });
  const plansJson = plans.map(({ plan, subscription, entries }) => {
    return { plan, subscription: subscriptionJson(subscription), entries: entries.map(entryJson) };
  });
  return { ...connection, block: blockData(block), plans: plansJson };
}

function explanationWords(
  { connection, customer, block, status, plans }: Explanation,
  showing: Showing,
  now: WallTime,
): string {
  const { service, reqId, cuid, environment } = connection;
  const name = customer === undefined ? "" : `, ${customer.firstName} ${customer.lastName}`;
  const blocked = blockLines(block, status).join("");
  const title = `${printable(`${service} ${reqId} of customer ${cuid}${name} (${environment})`)}\n${blocked}`;
  if (plans.length === 0) return `${title}\nThere never was a subscription.\n`;
  const parts = plans.map(({ plan, subscription, entries }) => {
    const { end } = subscription ?? { end: undefined };
    const ends = end === undefined ? "no subscription any more" : `${end > now ? "ends" : "ended"} ${end}`;
    const lines = entries.map((entry) => {
      const sentences = entrySentences(entry, entries).map((sentence) => `    ${printable(sentence)}\n`);
      return `\n  ${printable(entryTitle(entry, showing))}\n${sentences.join("")}`;
    });
    return `\n${printable(plan)}: ${ends}\n${lines.join("")}`;
  });
  return `${title}${parts.join("")}`;
}

/** When, what it is, and whose. */
function entryTitle({ entry, reversedBy, transaction }: ExplainedEntry, showing: Showing): string {
  const when = entry.at.wall;
  const reversed = reversedBy === undefined ? "" : ", reversed since";
  switch (entry.kind) {
    case "import":
      return `${when}  import`;
    case "goodwill":
      return `${when}  goodwill by ${entry.author}: ${entry.reason}${reversed}`;
    case "reversal":
      return `${when}  reversal by ${entry.author}: ${entry.reason}`;
    case "top_up": {
      if (transaction === undefined) return `${when}  top-up ${entry.txnId}, which is not on record: see topupd check`;
      const paid = `${partnerName(transaction, showing)}, ${showing.formatAmount(transaction.amount)}`;
      return `${when}  top-up ${entry.txnId} by ${paid}${reversed}`;
    }
  }
}

/** What an entry did: what came, and how the end after it is counted. */
function entrySentences(explained: ExplainedEntry, entries: readonly ExplainedEntry[]): string[] {
  const opening = explained.isOpening ? ["What there was before it was let go."] : [];
  return [whatCame(explained, entries), ...opening, howItEnds(explained.entry)];
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

function whatWasStated({ asOf, stated, goodwill, after }: Extract<Entry, { kind: "import" }>): string {
  const run = stated && `${stated.bouquet.name} (${stated.bouquet.code}) from ${stated.start} to ${stated.end}`;
  const said = `By the provider's records as of ${asOf.wall}: ${run ?? "there is none"}`;
  const statedEnd = stated?.end ?? "";
  if (after !== undefined && after.end < statedEnd) return `${said}; what was reversed since then was taken off.`;
  const isMore = after !== undefined && after.end > statedEnd;
  const came = `${said}${isMore ? "; top-ups of after then and goodwill came on top" : ""}.`;
  if (after === undefined || after.goodwillDays === 0) return came;
  const reading = goodwill === "held" ? "hold" : "lack";
  return `${came} The records ${reading} goodwill; ${count(after.goodwillDays, "day")} of it are in the end.`;
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
