import { Argument, type Command, Option } from "commander";
import { isTransactionId } from "../../domain/transaction-id.ts";
import { findCuidsByName } from "../../services/staff/customers.ts";
import { partnerName, type Showing, showingOf, transactionData } from "../../services/staff/showing.ts";
import {
  listTransactions,
  MAX_TRANSACTIONS,
  reverseTransaction,
  type ShownTransaction,
  showTransaction,
} from "../../services/staff/transactions.ts";
import { MOST_CANDIDATES } from "../../store/search.ts";
import { addGroup, addStoreCommand, type Session } from "../command.ts";
import { type FilterFlags, flags, readAmount, readFilter, readPartner } from "../options.ts";
import { fieldLines, isoTime, printable } from "../output/text.ts";
import { bouquetOf, changeFields, changeJson, tellOfPruning, transactionLines } from "../output/transactions.ts";
import { CommandFailed, type Runtime, WrongUsage } from "../runtime.ts";

interface ListFlags extends FilterFlags {
  readonly name?: string;
  readonly limit: number;
  readonly cursor?: string;
}

type ReverseFlags = Pick<FilterFlags, "partner" | "amount"> & { readonly reason: string };

const ID = [new Argument("<ID>", "its txnId, or the checkoutId (orderId) that was used")];
const NOT_FOUND =
  "there is no top-up with this txnId or checkoutId: topupd transaction list finds one by what else is known";

/** `topupd transaction ...`: what was topped up. */
export function addTransactionCommands(program: Command, runtime: Runtime): void {
  const group = addGroup(program, "transaction", "list top-ups, show what one of them did, and take one back");
  addStoreCommand<ListFlags>(group, runtime, {
    name: "list",
    description: "list top-ups, newest first",
    options: [
      ...flags.filter(),
      new Option("--name <NAME>", "for customers of this name, or parts of it").conflicts("cuid"),
      flags.limit(MAX_TRANSACTIONS),
      new Option("--cursor <TXNID>", "go on after this one, the last of the page before"),
    ],
    examples: ["topupd transaction list --from 2026-11-20 --to 2026-11-20", "topupd transaction list --name rai"],
    run: list,
  });
  addStoreCommand<object>(group, runtime, {
    name: "show",
    description: "show a top-up, and the subscription before and after it, or before and after its reversal",
    arguments: ID,
    examples: ["topupd transaction show 01M7W2Y7M0D61P39294S26KB1Y"],
    async run({ store, show }, [id = ""]) {
      const shown = await showTransaction({ store }, { id });
      if (shown === undefined) throw new CommandFailed(NOT_FOUND);
      const showing = await showingOf(store, shown.transaction.environment);
      show(shownJson(shown, showing), shownWords(shown, store.provider.zone.name, showing));
      if (shown.effect === undefined) runtime.stderr("The entry of this top-up is missing: run topupd check.\n");
    },
  });
  addStoreCommand<ReverseFlags>(group, runtime, {
    name: "reverse",
    description: "take a top-up back, for good: partners see it as reversed",
    arguments: ID,
    options: [
      flags.reason(),
      new Option("--partner <NAME>", "only if this partner made it"),
      new Option("--amount <AMOUNT>", "only if it is of this amount, such as 1130.50"),
    ],
    examples: ['topupd transaction reverse 01M7W2Y7M0D61P39294S26KB1Y --reason "paid twice"'],
    changes: true,
    run: reverse,
  });
}

async function list(session: Session, _: unknown, given: ListFlags): Promise<void> {
  const { runtime, store } = session;
  const { cursor, environment, name, limit } = given;
  if (cursor !== undefined && !isTransactionId(cursor))
    throw new WrongUsage("--cursor must be the txnId of the last top-up that was listed");
  // With a customer, somebody is on the telephone, and there is little to do.
  if (given.cuid === undefined) runtime.lowerPriority();
  const filter = await readFilter(store, given);
  const named = name === undefined ? undefined : await findCuidsByName({ store }, { environment, name });
  if (named?.kind === "not_found")
    throw new CommandFailed(`no ${environment} customer has the name ${printable(name ?? "")}`);
  if (named?.kind === "too_many")
    throw new CommandFailed(
      `${MOST_CANDIDATES} customers or more have the name ${printable(name ?? "")}: say more of it, or name one with --cuid`,
    );
  const page = await listTransactions({ store }, { filter, cuids: named?.cuids, cursor, limit });
  const showing = await showingOf(store, environment);
  const rows = page.transactions.map((each) => transactionData(each, showing));
  session.showRows(rows, () => transactionLines(page.transactions, showing));
  await tellOfPruning(session, filter.from);
  if (page.cursor !== undefined) runtime.stderr(`There are more: add --cursor ${page.cursor}\n`);
}

function shownJson({ transaction, customer, plan, effect, reversal }: ShownTransaction, showing: Showing) {
  const reversed = reversal && { at: isoTime(reversal.at), author: reversal.author, reason: reversal.reason };
  return {
    ...transactionData(transaction, showing),
    customer: customer === undefined ? null : { first_name: customer.firstName, last_name: customer.lastName },
    ...{ plan: plan ?? null, ...changeJson(effect) },
    reversal: reversed === undefined ? null : { ...reversed, ...changeJson(reversal?.effect) },
  };
}

function shownWords(shown: ShownTransaction, zone: string, showing: Showing): string {
  const { transaction, customer, plan, effect, reversal } = shown;
  const { txnId, checkoutId, status, txnDate, environment, cuid, service, reqId, udf1, udf2 } = transaction;
  const name = customer === undefined ? "" : ` ${customer.firstName} ${customer.lastName}`;
  return fieldLines([
    ["transaction", txnId],
    ["checkout", checkoutId],
    ["status", status],
    ["reversed", reversal && `${reversal.wall} by ${reversal.author}: ${reversal.reason}`],
    ["time", `${txnDate} (${zone})`],
    ["partner", partnerName(transaction, showing)],
    ["customer", `${cuid}${name} (${environment})`],
    ["connection", `${service} ${reqId}`],
    ["bouquet", bouquetOf(transaction, showing)],
    ["amount", showing.formatAmount(transaction.amount)],
    ["udf1", udf1],
    ["udf2", udf2],
    ["plan", plan],
    ...(reversal === undefined ? changeFields(effect) : changeFields(reversal.effect, " reversal")),
  ]);
}

async function reverse(session: Session, [id = ""]: readonly string[], given: ReverseFlags): Promise<void> {
  const { runtime, store, actor } = session;
  const meant = { partnerId: await readPartner(store, given.partner), amount: readAmount(given.amount, store) };
  const answer = await reverseTransaction(session, actor, { id, reason: given.reason, ...meant });
  if (!("transaction" in answer)) throw new CommandFailed(answer.kind === "not_found" ? NOT_FOUND : HISTORY_GONE);
  const { transaction } = answer;
  const showing = await showingOf(store, transaction.environment);
  const [amount, partner] = [showing.formatAmount(transaction.amount), partnerName(transaction, showing)];
  if (answer.kind === "another")
    throw new CommandFailed(`nothing was reversed: this is a top-up of ${amount} of ${partner}`);
  if (answer.kind === "already_reversed") {
    const { at, author, reason: why } = answer.reversal ?? {};
    const how = at === undefined ? "" : `, ${isoTime(at)} by ${author}: ${why}`;
    throw new CommandFailed(`this top-up of ${amount} of ${partner} was reversed already${how}`);
  }
  const words = fieldLines([
    ["reversed", transaction.txnId],
    ["amount", amount],
    ["partner", partner],
    ["connection", `${transaction.service} ${transaction.reqId} of customer ${transaction.cuid}`],
    ["plan", answer.plan],
    ...changeFields(answer),
  ]);
  session.show({ ...transactionData(transaction, showing), plan: answer.plan, ...changeJson(answer) }, words);
  if (answer.before !== undefined && answer.before.end === answer.after?.end)
    runtime.stderr(
      "The end has not moved: the time of this top-up was used up before, or the provider's records, imported since, hold it. See topupd why.\n",
    );
}

const HISTORY_GONE = "nothing was reversed: what there was before this top-up was let go (topupd prune)";
