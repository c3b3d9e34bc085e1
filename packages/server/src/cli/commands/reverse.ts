import type { Command } from "commander";
import { type ReversalAnswer, reverseTransaction } from "../../operations/reverse-transaction.ts";
import { examples } from "../help.ts";
import { isoTime, jsonOption, type OutputOptions, printJson } from "../output.ts";
import { type ReasonOptions, readReason, reasonOption } from "../reason.ts";
import { CommandFailed, type Runtime } from "../runtime.ts";
import { addSettings, STORE_SETTINGS, withStore } from "../settings.ts";
import { asOption, type StaffOptions, staffPorts } from "../staff.ts";
import { readAmount, readPartner } from "../transaction-flags.ts";
import { endWords, subscriptionJson } from "../words/subscription-output.ts";
import { printFields } from "../words/text.ts";
import { amountOf, partnerName, type Showing, showingOf, transactionJson } from "../words/transaction-output.ts";

interface ReverseOptions extends OutputOptions, StaffOptions, ReasonOptions {
  readonly partner?: string;
  readonly amount?: string;
}

type Reversed = Extract<ReversalAnswer, { kind: "reversed" }>;
type ReversedOnRecord = Extract<ReversalAnswer, { kind: "reversed_on_record" }>;

/** `topupd transaction reverse`: takes one top-up back. */
export function addReverseCommand(parent: Command, runtime: Runtime): void {
  const reverse = parent
    .command("reverse")
    .description("take a top-up back, for good: partners see it as reversed")
    .argument("<ID>", "its txnId, or the checkoutId (orderId) that was used")
    .addOption(reasonOption())
    .option("--partner <NAME>", "only if this partner made it")
    .option("--amount <AMOUNT>", "only if it is of this amount, such as 1130.50")
    .addOption(asOption())
    .addOption(jsonOption());
  examples(reverse, [
    'topupd transaction reverse 01M7W2Y7M0D61P39294S26KB1Y --reason "paid twice"',
    "topupd transaction reverse 01M7W2Y7M0D61P39294S26KB1Y --amount 1130 --reason x",
  ]);
  addSettings(reverse, STORE_SETTINGS).action(async (id: string, options: ReverseOptions) => {
    const reason = readReason(options);
    await withStore(reverse, runtime, { mustExist: true }, async (store) => {
      const partnerId = await readPartner(store, options.partner);
      const amount = readAmount(options.amount, store.provider.currencyExponent);
      const ports = staffPorts(runtime, store, options);
      // Before anything is done: what fails after that reads as though it had not been.
      const showing = await showingOf(store);
      const answer = await reverseTransaction(ports, { id, reason, partnerId, amount });
      if (answer.kind === "reversed_on_record") {
        if (options.json === true) printJson(runtime, transactionJson(answer.transaction, showing));
        else printFields(runtime, fieldsOf(answer, showing));
        runtime.stderr(
          "The end has not moved: this top-up was recorded at another topupd, and its time is in the dates that were imported. If the service must not go on, block the connection (topupd connection block).\n",
        );
        return;
      }
      if (answer.kind !== "reversed") throw new CommandFailed(whyNot(answer, showing));
      if (options.json === true) printJson(runtime, reversedJson(answer, showing));
      else print(runtime, answer, showing);
      if (answer.before !== undefined && answer.before.end === answer.after?.end)
        runtime.stderr(
          "The end has not moved: the time of this top-up was used up before, or the provider's records, imported since, hold it. See topupd why.\n",
        );
    });
  });
}

function whyNot(answer: Exclude<ReversalAnswer, Reversed | ReversedOnRecord>, showing: Showing): string {
  if (answer.kind === "not_found")
    return "there is no top-up with this txnId or checkoutId: topupd transaction list finds one by what else is known";
  const { transaction } = answer;
  const about = `${amountOf(transaction, showing)} of ${partnerName(transaction, showing)}`;
  if (answer.kind === "another")
    return `nothing was reversed: this top-up is one of ${about}, and not what --partner or --amount say`;
  if (answer.kind === "history_gone")
    return `nothing was reversed: what there was before this top-up of ${about} was let go (topupd prune)`;
  const { at, author, reason } = answer.reversal;
  return `this top-up of ${about} was reversed already, ${isoTime(at)} by ${author}: ${reason}`;
}

function reversedJson({ transaction, plan, before, after }: Reversed, showing: Showing) {
  return {
    ...transactionJson(transaction, showing),
    plan,
    before: subscriptionJson(before, showing),
    after: subscriptionJson(after, showing),
  };
}

function print(runtime: Runtime, answer: Reversed, showing: Showing): void {
  const { plan, before, after } = answer;
  printFields(runtime, [
    ...fieldsOf(answer, showing),
    ["plan", plan],
    ["before", endWords(before, showing)],
    ["after", endWords(after, showing)],
  ]);
}

function fieldsOf({ transaction }: Reversed | ReversedOnRecord, showing: Showing): [name: string, value: string][] {
  return [
    ["reversed", transaction.txnId],
    ["amount", amountOf(transaction, showing)],
    ["partner", partnerName(transaction, showing)],
    ["connection", `${transaction.service} ${transaction.reqId} of customer ${transaction.cuid}`],
  ];
}
