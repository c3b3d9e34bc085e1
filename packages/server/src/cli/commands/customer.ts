import { type Command, Option } from "commander";
import type { Instant } from "../../domain/calendar.ts";
import {
  type Connection,
  type Customer,
  connectionState,
  ENVIRONMENTS,
  type Environment,
  isBlocked,
  wireStatus,
} from "../../domain/customer.ts";
import { mayBeName } from "../../operations/find-by-name.ts";
import { type CustomerAnswer, findCustomer } from "../../operations/find-customer.ts";
import { MOST_CANDIDATES } from "../../store/search.ts";
import { examples } from "../help.ts";
import { jsonOption, type OutputOptions, printJson } from "../output.ts";
import { CommandFailed, type Runtime } from "../runtime.ts";
import { addSettings, STORE_SETTINGS, withStore } from "../settings.ts";
import { subscriptionJson } from "../words/subscription-output.ts";
import { count, printable, printFields, shellWord } from "../words/text.ts";
import {
  type ListShowing,
  listedJson,
  listShowingOf,
  printTransactions,
  type Showing,
} from "../words/transaction-output.ts";

interface ShowOptions extends OutputOptions {
  readonly environment: Environment;
  readonly byCuid?: boolean;
}

type Found = Extract<CustomerAnswer, { kind: "found" }>;

/** As much of a customer's history as helps on the telephone; `transaction list` has the rest. */
const HISTORY = 20;

/** `topupd customer ...`: whom partners top up for. */
export function addCustomerCommands(program: Command, runtime: Runtime): void {
  const customer = program.command("customer").description("show customers").helpCommand(false);
  const show = customer
    .command("show")
    .description("show a customer: connections, subscriptions and the newest top-ups")
    .argument("<CODE>", "a mobile number, customer id, set-top box number, username or name")
    .option("--by-cuid", "take CODE for a customer id, and for nothing else")
    .addOption(new Option("--environment <ENVIRONMENT>", "where to look").choices(ENVIRONMENTS).default("production"))
    .addOption(jsonOption());
  examples(show, [
    "topupd customer show 9841000000",
    'topupd customer show "maya rai"',
    "topupd customer show 204117 --by-cuid",
  ]);
  addSettings(show, STORE_SETTINGS).action(async (code: string, options: ShowOptions) => {
    // To find a name, all customers may be looked at.
    if (mayBeName(code)) runtime.giveWay();
    await withStore(show, runtime, { mustExist: true }, async (store) => {
      const { environment, byCuid = false } = options;
      const request = { environment, code: code.trim(), isCuid: byCuid, history: HISTORY };
      const answer = await findCustomer({ store }, request);
      if (answer.kind === "not_found") throw new CommandFailed(notFound(code, options, answer.elsewhere));
      if (answer.kind === "ambiguous") throw new CommandFailed(fitsSeveral(code, options, answer.candidates));
      const showing = await listShowingOf(store, environment);
      if (options.json === true) printJson(runtime, foundJson(answer, options, showing, runtime.clock()));
      else print(runtime, answer, options, showing);
    });
  });
}

function notFound(code: string, { environment, byCuid }: ShowOptions, elsewhere: Environment | undefined): string {
  const what = mayBeName(code) && byCuid !== true ? "code or name" : "code";
  const nobody = `no ${environment} customer has the ${what} ${printable(code)}`;
  return elsewhere === undefined ? nobody : `${nobody}, but a ${elsewhere} one has: add --environment ${elsewhere}`;
}

function fitsSeveral(code: string, { environment }: ShowOptions, candidates: readonly Customer[]): string {
  const trial = environment === "trial" ? " --environment trial" : "";
  const lines = candidates.map(({ cuid, firstName, lastName }) => {
    return printable(`  topupd customer show ${shellWord(cuid)} --by-cuid${trial}  (${firstName} ${lastName})`);
  });
  const more = candidates.length < MOST_CANDIDATES ? "" : ", of whom these are the first";
  return `${printable(code)} fits several customers${more}: say which\n${lines.join("\n")}`;
}

function print(
  runtime: Runtime,
  { customer, transactions, hasMore }: Found,
  options: ShowOptions,
  showing: ListShowing,
) {
  const { cuid, firstName, lastName, mobile, status, connections } = customer;
  printFields(runtime, [
    ["customer", `${cuid} ${firstName} ${lastName} (${options.environment})`],
    ["mobile", mobile ?? "-"],
    ["status", status],
  ]);
  for (const connection of connections) printConnection(runtime, connection, showing);
  if (transactions.length === 0) {
    runtime.stdout("\nNo top-ups.\n");
    return;
  }
  runtime.stdout(`\n${hasMore ? `The newest ${HISTORY} top-ups` : count(transactions.length, "top-up")}:\n\n`);
  printTransactions(runtime, transactions, showing);
  const trial = options.environment === "trial" ? " --environment trial" : "";
  if (hasMore)
    runtime.stderr(`${printable(`There are more: topupd transaction list --cuid ${shellWord(cuid)}${trial}`)}\n`);
}

function printConnection(runtime: Runtime, connection: Connection, { calendar }: Showing): void {
  const { service, reqId, segment, subscriptions } = connection;
  const status = statusOf(connection, runtime.clock());
  const note = segment === undefined ? "" : `, segment ${segment}`;
  runtime.stdout(`\n${printable(`${service} ${reqId}  ${status}${note}`)}\n`);
  if (subscriptions.length === 0) runtime.stdout("  no subscription\n");
  for (const { bouquet, start, end } of subscriptions) {
    const ends = end > runtime.clock() ? "ends" : "ended";
    runtime.stdout(`  ${printable(`${bouquet.name} (${bouquet.code})`)}\n`);
    runtime.stdout(`    since ${calendar.format(start)}, ${ends} ${calendar.format(end)}\n`);
  }
}

/** What partners see (decisions, "Customers and connections"), and what the provider said where that is more. */
function statusOf(connection: Connection, now: Instant): string {
  const seen = wireStatus(connectionState(connection), now);
  return isBlocked(connection) ? `${seen} (blocked)` : seen;
}

function foundJson(
  { customer, transactions, hasMore }: Found,
  { environment }: ShowOptions,
  showing: ListShowing,
  now: Instant,
) {
  const { cuid, firstName, lastName, mobile, status, connections } = customer;
  return {
    ...{ environment, cuid, first_name: firstName, last_name: lastName, mobile: mobile ?? null, status },
    connections: connections.map((connection) => ({
      service: connection.service,
      reqId: connection.reqId,
      status: wireStatus(connectionState(connection), now),
      blocked: isBlocked(connection),
      segment: connection.segment ?? null,
      subscriptions: connection.subscriptions.map((each) => ({ plan: each.plan, ...subscriptionJson(each, showing) })),
    })),
    transactions: transactions.map((transaction) => listedJson(transaction, showing)),
    hasMore,
  };
}
