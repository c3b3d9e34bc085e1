import { Argument, type Command, Option } from "commander";
import {
  type Connection,
  type Customer,
  connectionState,
  type Environment,
  findConnection,
  isBlocked,
  subscriptionsOf,
  wireStatus,
} from "../../../domain/customer.ts";
import type { WallTime } from "../../../domain/wall-time.ts";
import { blockLines, count, fieldLines, printable, shellWord } from "../../../office/text.ts";
import { type CustomerAnswer, findCustomer, mayBeName } from "../../../services/staff/customers.ts";
import { blockData } from "../../../services/staff/data.ts";
import { type Showing, showingOf, transactionData } from "../../../services/staff/showing.ts";
import { MOST_CANDIDATES, type StaffBlock } from "../../../store/search.ts";
import { addGroup, addStoreCommand } from "../command.ts";
import { flags } from "../options.ts";
import { subscriptionJson, transactionLines } from "../output/transactions.ts";
import { CommandFailed, type Runtime } from "../runtime.ts";

interface ShowFlags {
  readonly environment: Environment;
  readonly byCuid?: boolean;
}

type Found = Extract<CustomerAnswer, { kind: "found" }>;

/** As much of a customer's history as helps on the telephone; `transaction list` has the rest. */
const HISTORY = 20;

/** `topupd customer ...`: whom partners top up for. */
export function addCustomerCommands(program: Command, runtime: Runtime): void {
  addStoreCommand<ShowFlags>(addGroup(program, "customer", "show customers"), runtime, {
    name: "show",
    description: "show a customer: connections, subscriptions and the newest top-ups",
    arguments: [new Argument("<CODE>", "a mobile number, customer id, set-top box number, username or name")],
    options: [
      new Option("--by-cuid", "take CODE for a customer id, and for nothing else"),
      flags.environment("where to look"),
    ],
    examples: ['topupd customer show "maya rai"', "topupd customer show 204117 --by-cuid"],
    async run({ store, clock, show }, [given = ""], options) {
      const { environment, byCuid: isCuid = false } = options;
      const code = given.trim();
      // To find a name, all customers may be looked at.
      if (mayBeName(code)) runtime.lowerPriority();
      const answer = await findCustomer({ store }, { environment, code, isCuid, history: HISTORY });
      if (answer.kind === "not_found") throw new CommandFailed(notFound(code, options, answer.elsewhere));
      if (answer.kind === "ambiguous") throw new CommandFailed(fitsSeveral(code, options, answer.candidates));
      const showing = await showingOf(store, environment);
      const now = store.provider.zone.wallTime(clock());
      show(foundJson(answer, options, showing, now), foundWords(answer, options, showing, now));
      const list = `topupd transaction list --cuid ${shellWord(answer.customer.cuid)}${inTrial(options)}`;
      if (answer.hasMore) runtime.stderr(`There are more: ${printable(list)}\n`);
    },
  });
}

function notFound(code: string, { environment, byCuid }: ShowFlags, elsewhere: Environment | undefined): string {
  const what = mayBeName(code) && byCuid !== true ? "code or name" : "code";
  const nobody = `no ${environment} customer has the ${what} ${printable(code)}`;
  return elsewhere === undefined ? nobody : `${nobody}, but a ${elsewhere} one has: add --environment ${elsewhere}`;
}

function fitsSeveral(code: string, options: ShowFlags, candidates: readonly Customer[]): string {
  const lines = candidates.map(({ cuid, firstName, lastName }) =>
    printable(`  topupd customer show ${shellWord(cuid)} --by-cuid${inTrial(options)}  (${firstName} ${lastName})`),
  );
  const more = candidates.length < MOST_CANDIDATES ? "" : ", of whom these are the first";
  return `${printable(code)} fits several customers${more}: say which\n${lines.join("\n")}`;
}

function inTrial({ environment }: ShowFlags): string {
  return environment === "trial" ? " --environment trial" : "";
}

function foundWords(found: Found, { environment }: ShowFlags, showing: Showing, now: WallTime): string {
  const { customer, blocks, transactions, hasMore } = found;
  const { cuid, firstName, lastName, mobile, status, connections } = customer;
  const profile = fieldLines([
    ["customer", `${cuid} ${firstName} ${lastName} (${environment})`],
    ["mobile", mobile ?? "-"],
    ["status", status],
  ]);
  const parts = connections.map((each) => connectionWords(each, findConnection(blocks, each), now)).join("");
  if (transactions.length === 0) return `${profile}${parts}\nNo top-ups.\n`;
  const title = hasMore ? `The newest ${HISTORY} top-ups` : count(transactions.length, "top-up");
  return `${profile}${parts}\n${title}:\n\n${transactionLines(transactions, showing)}`;
}

function connectionWords(connection: Connection, block: StaffBlock | undefined, now: WallTime): string {
  const { service, reqId, segment } = connection;
  // What partners see (decisions, "Customers and connections"), and what the provider said where that is more.
  const status = `${wireStatus(connectionState(connection), now)}${isBlocked(connection) ? " (blocked)" : ""}`;
  const subscriptions = subscriptionsOf(connection).map(({ bouquet, start, end }) => {
    const times = `since ${start}, ${end > now ? "ends" : "ended"} ${end}`;
    return `  ${printable(`${bouquet.name} (${bouquet.code})`)}\n    ${times}\n`;
  });
  const title = `${service} ${reqId}  ${status}${segment === undefined ? "" : `, segment ${segment}`}`;
  const blocked = blockLines(block, connection.status).map((line) => `  ${line}`);
  return `\n${printable(title)}\n${blocked.join("")}${subscriptions.length === 0 ? "  no subscription\n" : subscriptions.join("")}`;
}

function foundJson(found: Found, { environment }: ShowFlags, showing: Showing, now: WallTime) {
  const { customer, blocks, transactions, hasMore } = found;
  const { cuid, firstName, lastName, mobile, status, connections } = customer;
  return {
    ...{ environment, cuid, first_name: firstName, last_name: lastName, mobile: mobile ?? null, status },
    connections: connections.map((connection) => ({
      ...{ service: connection.service, reqId: connection.reqId },
      ...{ status: wireStatus(connectionState(connection), now), blocked: isBlocked(connection) },
      block: blockData(findConnection(blocks, connection)),
      segment: connection.segment ?? null,
      subscriptions: subscriptionsOf(connection).map((each) => ({ plan: each.plan, ...subscriptionJson(each) })),
    })),
    transactions: transactions.map((transaction) => transactionData(transaction, showing)),
    hasMore,
  };
}
