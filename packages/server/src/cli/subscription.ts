import type { Command } from "commander";
import type { GoodwillOutcome } from "../domain/correction.ts";
import { reasoned } from "../operations/ports.ts";
import { addConnectionArguments, type ConnectionFlags, connectionToChange, readService } from "./connection-words.ts";
import { examples } from "./help.ts";
import { jsonOption, type OutputOptions, printJson } from "./output.ts";
import { type ReasonOptions, readReason, reasonOption } from "./reason.ts";
import { CommandFailed, type Runtime, WrongUsage } from "./runtime.ts";
import { addSettings, STORE_SETTINGS, withStore } from "./settings.ts";
import { asOption, type StaffOptions, staffPorts } from "./staff.ts";
import { endWords, subscriptionJson } from "./subscription-output.ts";
import { count, printFields, shellWord } from "./text.ts";
import { type Showing, showingOf } from "./transaction-output.ts";

interface GrantOptions extends OutputOptions, StaffOptions, ReasonOptions, ConnectionFlags {
  readonly days: string;
  readonly plan?: string;
}

type Granted = Extract<GoodwillOutcome, { kind: "granted" }>;

const MOST_DAYS = 366;

/** `topupd subscription ...`: what staff give for nothing. */
export function addSubscriptionCommands(program: Command, runtime: Runtime): void {
  const subscription = program.command("subscription").description("give goodwill days").helpCommand(false);
  const grant = addConnectionArguments(
    subscription.command("grant").description("give a subscription days for nothing"),
    "is one of several customers'",
  )
    .requiredOption("--days <NUMBER>", `how many, up to ${MOST_DAYS}`)
    .option("--plan <PLAN>", "which plan, where the connection has several")
    .addOption(reasonOption())
    .addOption(asOption())
    .addOption(jsonOption());
  examples(grant, [
    'topupd subscription grant internet maya.rai --days 3 --reason "outage"',
    'topupd subscription grant tv 00012345 --days 7 --plan Family --reason "outage"',
  ]);
  addSettings(grant, STORE_SETTINGS).action(async (given: string, reqId: string, options: GrantOptions) => {
    const service = readService("topupd subscription grant", given, reqId);
    const [reason, days] = [readReason(options), readNumberOfDays(options.days)];
    await withStore(grant, runtime, { mustExist: true }, async (store) => {
      const key = await connectionToChange(store, service, reqId, options);
      const by = reasoned(staffPorts(runtime, store, options), reason);
      const outcome = await store.corrections.grantGoodwill({ ...key, days, plan: options.plan }, by);
      if (outcome.kind !== "granted") throw new CommandFailed(whyNot(outcome, options));
      const showing = await showingOf(store);
      if (options.json === true) printJson(runtime, grantedJson(outcome, days, showing));
      else print(runtime, outcome, days, showing);
    });
  });
}

function readNumberOfDays(text: string): number {
  const days = Number(text);
  if (/^[0-9]{1,3}$/.test(text) && days >= 1 && days <= MOST_DAYS) return days;
  throw new WrongUsage(`--days must be a whole number from 1 to ${MOST_DAYS}, but is ${JSON.stringify(text)}`);
}

function whyNot(outcome: Exclude<GoodwillOutcome, Granted>, { plan }: GrantOptions): string {
  switch (outcome.kind) {
    case "not_found":
      return "the connection is gone";
    case "too_long":
      return "no calendar goes as far as the subscription would then last";
    case "ambiguous":
      return `it has several subscriptions: say which, with --plan ${outcome.plans.map(shellWord).join(" or --plan ")}`;
    case "no_subscription": {
      const { plans } = outcome;
      const known = plans.length === 0 ? "it has none" : `it has ${plans.map(shellWord).join(", ")}`;
      return plan === undefined
        ? `there is no base subscription to give days to: ${known}`
        : `there is no subscription of the plan ${shellWord(plan)}: ${known}`;
    }
  }
}

function grantedJson({ key, plan, before, after }: Granted, days: number, showing: Showing) {
  const [was, is] = [subscriptionJson(before, showing), subscriptionJson(after, showing)];
  return { ...key, plan, days, before: was, after: is };
}

function print(runtime: Runtime, { key, plan, before, after }: Granted, days: number, showing: Showing): void {
  printFields(runtime, [
    ["granted", count(days, "day")],
    ["connection", `${key.service} ${key.reqId} of customer ${key.cuid}`],
    ["plan", plan],
    ["before", endWords(before, showing)],
    ["after", endWords(after, showing)],
  ]);
}
