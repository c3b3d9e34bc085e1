import { type Command, Option } from "commander";
import { ENVIRONMENTS, type Environment } from "../../domain/customer.ts";
import { findByName } from "../../operations/find-by-name.ts";
import { listTransactions, MAX_TRANSACTIONS } from "../../operations/list-transactions.ts";
import { type Moved, type ShownTransaction, showTransaction } from "../../operations/show-transaction.ts";
import { MOST_CANDIDATES } from "../../store/search.ts";
import type { Store } from "../../store/store.ts";
import { examples } from "../help.ts";
import { isoTime, jsonOption, type OutputOptions, printJson } from "../output.ts";
import { CommandFailed, type Runtime } from "../runtime.ts";
import { addSettings, STORE_SETTINGS, withStore } from "../settings.ts";
import { type FilterFlags, filterOptions, readCursor, readDays, readFilter } from "../transaction-flags.ts";
import { readWholeNumber } from "../whole-number.ts";
import { IMPORTED_WORDS, wordsOf } from "../words/step-words.ts";
import { endWords, subscriptionJson } from "../words/subscription-output.ts";
import { printable, printFields, wrap } from "../words/text.ts";
import {
  amountOf,
  bouquetOf,
  type ListShowing,
  listedJson,
  listShowingOf,
  partnerName,
  printTransactions,
  type Showing,
} from "../words/transaction-output.ts";
import { tellOfPruning } from "./prune.ts";
import { addReverseCommand } from "./reverse.ts";

interface ListFlags extends OutputOptions, FilterFlags {
  readonly name?: string;
  readonly limit: string;
  readonly cursor?: string;
}

/** `topupd transaction ...`: what was topped up. */
export function addTransactionCommands(program: Command, runtime: Runtime): void {
  const transaction = program
    .command("transaction")
    .description("list top-ups, show what one of them did, and take one back")
    .helpCommand(false);
  addListCommand(transaction, runtime);
  addShowCommand(transaction, runtime);
  addReverseCommand(transaction, runtime);
}

function addListCommand(parent: Command, runtime: Runtime): void {
  const list = parent
    .command("list")
    .description("list top-ups, newest first")
    .addOption(
      new Option("--environment <ENVIRONMENT>", "of which customers").choices(ENVIRONMENTS).default("production"),
    );
  for (const option of filterOptions()) list.addOption(option);
  list
    .addOption(new Option("--name <NAME>", "for customers of this name, or parts of it").conflicts("cuid"))
    .addOption(new Option("--limit <NUMBER>", `how many at most, up to ${MAX_TRANSACTIONS}`).default("50", "50"))
    .option("--cursor <TXNID>", "go on after this one, the last of the page before")
    .addOption(jsonOption());
  examples(list, [
    "topupd transaction list --from 2026-11-20 --to 2026-11-20",
    'topupd transaction list --name "maya rai"',
    'topupd transaction list --partner "Blue Wallet" --limit 200 --json',
  ]);
  addSettings(list, STORE_SETTINGS).action(async (flags: ListFlags) => {
    const [limit, cursor] = [readWholeNumber("--limit", flags.limit, MAX_TRANSACTIONS), readCursor(flags.cursor)];
    // With a customer, somebody is on the telephone, and there is little to do.
    if (flags.cuid === undefined) runtime.giveWay();
    // Checked first: whether a date exists does not depend on the zone.
    readDays(flags);
    await withStore(list, runtime, { mustExist: true }, async (store) => {
      const filter = await readFilter(store, flags);
      const cuids = flags.name === undefined ? undefined : await readName(store, flags.environment, flags.name);
      const page = await listTransactions({ store }, { filter, cuids, cursor, limit });
      const showing = await listShowingOf(store, flags.environment);
      if (flags.json === true)
        for (const transaction of page.transactions) printJson(runtime, listedJson(transaction, showing));
      else printTransactions(runtime, page.transactions, showing);
      await tellOfPruning(runtime, store, filter.from);
      if (page.cursor !== undefined) runtime.stderr(`There are more: add --cursor ${page.cursor}\n`);
    });
  });
}

/** @returns the ids of all who have the name. @throws CommandFailed where nobody has it, or more than a list is good for. */
async function readName(store: Store, environment: Environment, name: string): Promise<readonly string[]> {
  const customers = await findByName({ store }, environment, name, MOST_CANDIDATES);
  if (customers.length === 0) throw new CommandFailed(`no ${environment} customer has the name ${printable(name)}`);
  if (customers.length === MOST_CANDIDATES)
    throw new CommandFailed(
      `${MOST_CANDIDATES} customers or more have the name ${printable(name)}: say more of it, or name one with --cuid`,
    );
  return customers.map(({ cuid }) => cuid);
}

function addShowCommand(parent: Command, runtime: Runtime): void {
  const show = parent
    .command("show")
    .description("show a top-up, and the subscription before and after it")
    .argument("<ID>", "its txnId, or the checkoutId (orderId) that was used")
    .addOption(jsonOption());
  examples(show, ["topupd transaction show 01M7W2Y7M0D61P39294S26KB1Y"]);
  addSettings(show, STORE_SETTINGS).action(async (id: string, options: OutputOptions) => {
    await withStore(show, runtime, { mustExist: true }, async (store) => {
      const shown = await showTransaction({ store }, id);
      if (shown === undefined)
        throw new CommandFailed(
          "there is no top-up with this txnId or checkoutId: topupd transaction list finds one by what else is known",
        );
      const showing = await listShowingOf(store, shown.transaction.environment);
      if (options.json === true) printJson(runtime, shownJson(shown, showing));
      else print(runtime, shown, showing);
    });
  });
}

/** @param what it was that moved the end; nothing where it is the top-up itself. */
function endsOf(what: string, moved: Moved | undefined, showing: Showing): [name: string, value: string | undefined][] {
  return [
    [`before${what}`, moved && endWords(moved.before, showing)],
    [`after${what}`, moved && endWords(moved.after, showing)],
  ];
}

function shownJson({ transaction, customer, grant, reversal }: ShownTransaction, showing: ListShowing) {
  return {
    ...listedJson(transaction, showing),
    imported: transaction.imported === true,
    customer: customer === undefined ? null : { first_name: customer.firstName, last_name: customer.lastName },
    reversal: reversal === undefined ? null : reversalJson(reversal, showing),
    plan: grant?.plan ?? null,
    before: subscriptionJson(grant?.step.before, showing),
    after: subscriptionJson(grant?.step.after, showing),
    words: transaction.imported ? IMPORTED_WORDS : grant === undefined ? null : wordsOf(grant.step, showing),
  };
}

function reversalJson({ at, author, reason, moved }: NonNullable<ShownTransaction["reversal"]>, showing: Showing) {
  const [before, after] = [subscriptionJson(moved?.before, showing), subscriptionJson(moved?.after, showing)];
  return { at: isoTime(at), author, reason, before, after };
}

function print(
  runtime: Runtime,
  { transaction, customer, grant, reversal }: ShownTransaction,
  showing: ListShowing,
): void {
  const { calendar } = showing;
  const { txnId, checkoutId, status, at, environment, cuid, service, reqId, udf1, udf2 } = transaction;
  printFields(runtime, [
    ["transaction", txnId],
    ["checkout", checkoutId],
    ["status", status],
    ["reversed", reversal && `${calendar.format(reversal.at)} by ${reversal.author}: ${reversal.reason}`],
    ["time", `${calendar.format(at)} (${calendar.timeZone})`],
    ["partner", partnerName(transaction, showing)],
    [
      "customer",
      `${cuid}${customer === undefined ? "" : ` ${customer.firstName} ${customer.lastName}`} (${environment})`,
    ],
    ["connection", `${service} ${reqId}`],
    ["bouquet", bouquetOf(transaction, showing)],
    ["amount", amountOf(transaction, showing)],
    ["udf1", udf1],
    ["udf2", udf2],
    ["plan", grant?.plan],
    ...(reversal === undefined ? endsOf("", grant?.step, showing) : endsOf(" reversal", reversal.moved, showing)),
  ]);
  if (transaction.imported === true) runtime.stdout(`\n${wrap(IMPORTED_WORDS, "")}`);
  else if (grant === undefined) runtime.stderr("The grant of this top-up is missing: run topupd check.\n");
  else runtime.stdout(`\n${wrap(wordsOf(grant.step, showing), "")}`);
}
