import type { Command } from "commander";
import { SERVICES } from "../../domain/bouquet.ts";
import type { WallTime } from "../../domain/wall-time.ts";
import { type Explanation, explainSubscriptions } from "../../services/staff/subscriptions.ts";
import { addStoreCommand } from "../command.ts";
import { entryJson, entryTitle, entryWords } from "../output/entries.ts";
import { type OutputOptions, printable, show, wrap } from "../output/text.ts";
import { type Showing, showingOf, subscriptionJson } from "../output/transactions.ts";
import { CommandFailed, type Runtime, WrongUsage } from "../runtime.ts";
import { type ConnectionFlags, connectionUnclear, holderOptions, readService } from "./connection.ts";

/** `topupd why`: how each end date came to be. */
export function addWhyCommand(program: Command, runtime: Runtime): void {
  addStoreCommand<OutputOptions & ConnectionFlags>(program, runtime, {
    name: "why",
    description: "explain the end date of each subscription of a connection, entry by entry",
    // Optional only for commander: of a single word, it takes the last argument to be missing.
    arguments: {
      "[SERVICE]": "tv, internet or iptv, where several have this REQID",
      "[REQID]": "the set-top box number or username",
    },
    options: holderOptions("was another's once, or is gone"),
    examples: ["topupd why maya.rai", "topupd why tv 00012345 --cuid 204117"],
    async run({ store, clock }, [first, second], options) {
      const reqId = second ?? first;
      if (reqId === undefined || (second === undefined && SERVICES.some((each) => each === reqId)))
        throw new WrongUsage("missing required argument 'REQID': try topupd why internet maya.rai");
      const service = second === undefined ? undefined : readService(first ?? "", reqId);
      const { environment, cuid } = options;
      const request = { service, reqId, environment, cuid };
      const answer = await explainSubscriptions({ store }, request);
      if (answer.kind !== "explained") {
        const { message } = connectionUnclear(answer, request);
        const isGone = answer.kind === "no_connection" && cuid === undefined;
        throw new CommandFailed(isGone ? `${message}: if it is gone, name its customer with --cuid` : message);
      }
      const { explanation } = answer;
      const showing = await showingOf(store, explanation.connection.environment);
      const { zone } = store.provider;
      const words = explanationWords(explanation, showing, zone.wallTime(clock()));
      const zoneWords = `Times are those of ${zone.name}.`;
      show(runtime, options, explanationJson(explanation, showing), `${words}\n${zoneWords}\n`);
    },
  });
}

function explanationWords({ connection, customer, plans }: Explanation, showing: Showing, now: WallTime): string {
  const { service, reqId, cuid, environment } = connection;
  const name = customer === undefined ? "" : `, ${customer.firstName} ${customer.lastName}`;
  const title = `${printable(`${service} ${reqId} of customer ${cuid}${name} (${environment})`)}\n`;
  if (plans.length === 0) return `${title}\nThere never was a subscription.\n`;
  const parts = plans.map((explained) => {
    const { plan, subscription, entries } = explained;
    const { end } = subscription ?? { end: undefined };
    const ends = end === undefined ? "no subscription any more" : `${end > now ? "ends" : "ended"} ${end}`;
    const lines = entries.map(
      (entry) => `\n${wrap(entryTitle(entry, showing), "  ")}${wrap(entryWords(entry, explained), "    ")}`,
    );
    return `\n${printable(plan)}: ${ends}\n${lines.join("")}`;
  });
  return `${title}${parts.join("")}`;
}

function explanationJson({ connection, customer, plans }: Explanation, showing: Showing) {
  const { environment, cuid, service, reqId } = connection;
  const profile = customer && { first_name: customer.firstName, last_name: customer.lastName };
  return {
    ...{ environment, cuid, ...profile, service, reqId },
    plans: plans.map((explained) => ({
      plan: explained.plan,
      subscription: subscriptionJson(explained.subscription),
      entries: explained.entries.map((entry) => entryJson(entry, explained, showing)),
    })),
  };
}
