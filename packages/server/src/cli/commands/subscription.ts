import type { Command } from "commander";
import type { GoodwillCommand, GoodwillOutcome } from "../../domain/correction.ts";
import type { TakeBackLimit, TakeBackOutcome } from "../../domain/take-back.ts";
import { reasoned } from "../../operations/ports.ts";
import type { ReasonedAttribution } from "../../store/corrections.ts";
import { StoreUnavailable } from "../../store/errors.ts";
import type { Store } from "../../store/store.ts";
import { examples } from "../help.ts";
import { jsonOption, type OutputOptions, printJson } from "../output.ts";
import { type ReasonOptions, readReason, reasonOption } from "../reason.ts";
import { CommandFailed, type Runtime } from "../runtime.ts";
import { addSettings, STORE_SETTINGS, withStore } from "../settings.ts";
import { asOption, type StaffOptions, staffPorts } from "../staff.ts";
import { readWholeNumber } from "../whole-number.ts";
import {
  addConnectionArguments,
  type ConnectionFlags,
  connectionToChange,
  readService,
} from "../words/connection-words.ts";
import { endWords, subscriptionJson } from "../words/subscription-output.ts";
import { count, printFields, shellWord } from "../words/text.ts";
import { type Showing, showingOf } from "../words/transaction-output.ts";

interface DaysOptions extends OutputOptions, StaffOptions, ReasonOptions, ConnectionFlags {
  readonly days: string;
  readonly plan?: string;
}

type Outcome = GoodwillOutcome | TakeBackOutcome;
type Done = Extract<Outcome, { kind: "granted" | "taken_back" }>;

/** What a command of days does, and says. */
interface DaysCommand {
  readonly name: string;
  readonly description: string;
  readonly planDescription: string;
  readonly examples: readonly [string, ...string[]];
  /** Of the days, once it is done. */
  readonly done: string;
  /** What is to be done with days and a subscription. */
  readonly purpose: string;
  readonly run: (store: Store, command: GoodwillCommand, by: ReasonedAttribution) => Promise<Outcome>;
}

const GRANT: DaysCommand = {
  name: "grant",
  description: "give a subscription days for nothing",
  planDescription: "which plan, where the connection has several",
  examples: [
    'topupd subscription grant internet maya.rai --days 3 --reason "outage"',
    'topupd subscription grant tv 00012345 --days 7 --plan Family --reason "outage"',
  ],
  done: "given",
  purpose: "give days to",
  run: (store, command, by) => store.corrections.grantGoodwill(command, by),
};

const TAKE_BACK: DaysCommand = {
  name: "take-back",
  description: "take back days that were given by mistake",
  planDescription: "which plan, where several have been given days",
  examples: [
    'topupd subscription take-back internet maya.rai --days 4 --reason "3 meant"',
    'topupd subscription take-back tv 012345 --days 7 --plan Family --reason "typo"',
  ],
  done: "taken back",
  purpose: "take days from",
  run: (store, command, by) => store.corrections.takeBackGoodwill(command, by),
};

const MOST_DAYS = 366;

/** `topupd subscription ...`: what staff give for nothing, and take back where that was a mistake. */
export function addSubscriptionCommands(program: Command, runtime: Runtime): void {
  const subscription = program
    .command("subscription")
    .description("give goodwill days, and take them back")
    .helpCommand(false);
  for (const command of [GRANT, TAKE_BACK]) addDaysCommand(subscription, runtime, command);
}

function addDaysCommand(parent: Command, runtime: Runtime, what: DaysCommand): void {
  const command = addConnectionArguments(
    parent.command(what.name).description(what.description),
    "is one of several customers'",
  )
    .requiredOption("--days <NUMBER>", `how many, up to ${MOST_DAYS}`)
    .option("--plan <PLAN>", what.planDescription)
    .addOption(reasonOption())
    .addOption(asOption())
    .addOption(jsonOption());
  examples(command, what.examples);
  addSettings(command, STORE_SETTINGS).action(async (given: string, reqId: string, options: DaysOptions) => {
    const service = readService(`topupd subscription ${what.name}`, given, reqId);
    const [reason, days] = [readReason(options), readWholeNumber("--days", options.days, MOST_DAYS)];
    await withStore(command, runtime, { mustExist: true }, async (store) => {
      const key = await connectionToChange(store, service, reqId, options);
      const by = reasoned(staffPorts(runtime, store, options), reason);
      // Before anything is done: what fails after that reads as though it had not been.
      const showing = await showingOf(store);
      const running = what.run(store, { ...key, days, plan: options.plan }, by);
      // Whoever sends it again after a commit whose answer was lost does it twice.
      const outcome = await running.catch((error: unknown) => {
        if (!(error instanceof StoreUnavailable)) throw error;
        const look = `topupd audit list --cuid ${shellWord(key.cuid)}`;
        const maybe = `The days may have been ${what.done} all the same: look with ${look}`;
        throw new CommandFailed(`${error.message}. ${maybe}`, { cause: error });
      });
      if (outcome.kind !== "granted" && outcome.kind !== "taken_back")
        throw new CommandFailed(whyNot(outcome, what, options));
      if (options.json === true) printJson(runtime, doneJson(outcome, days, showing));
      else print(runtime, outcome, days, showing);
    });
  });
}

function whyNot(outcome: Exclude<Outcome, Done>, { purpose }: DaysCommand, { plan }: DaysOptions): string {
  switch (outcome.kind) {
    case "not_found":
      return "the connection is gone";
    case "too_long":
      return "no calendar goes as far as the subscription would then last";
    case "too_many":
      return whyNoMore(outcome);
    case "ambiguous":
      return `it has several subscriptions: say which, with --plan ${outcome.plans.map(shellWord).join(" or --plan ")}`;
    case "no_subscription": {
      const { plans } = outcome;
      const known = plans.length === 0 ? "it has none" : `it has ${plans.map(shellWord).join(", ")}`;
      return plan === undefined
        ? `there is no base subscription to ${purpose}: ${known}`
        : `there is no subscription of the plan ${shellWord(plan)}: ${known}`;
    }
  }
}

const LIMITS: Readonly<Record<TakeBackLimit, string>> = {
  given: "no more are left of those that were given for nothing in its current run",
  elsewhere: "the others were given at another topupd, before the customer came here",
  in_records:
    "its end is that of the provider's own records, without goodwill days on top. Correct these, and import them",
  over: "it would end before now, and days that have begun are not taken back",
  paid: "it would end before the time that was paid for does",
  history_gone: "what there was before the days were given has been let go, so one of them must stay",
};

function whyNoMore({ plan, most, limit }: Extract<TakeBackOutcome, { kind: "too_many" }>): string {
  const can = most === 0 ? "none" : `at most ${count(most, "day")}`;
  return `nothing was taken back. Of ${shellWord(plan)}, ${can} can be taken back: ${LIMITS[limit]}`;
}

function doneJson({ key, plan, before, after }: Done, days: number, showing: Showing) {
  const [was, is] = [subscriptionJson(before, showing), subscriptionJson(after, showing)];
  return { ...key, plan, days, before: was, after: is };
}

function print(runtime: Runtime, { kind, key, plan, before, after }: Done, days: number, showing: Showing): void {
  printFields(runtime, [
    [kind === "granted" ? "granted" : "taken back", count(days, "day")],
    ["connection", `${key.service} ${key.reqId} of customer ${key.cuid}`],
    ["plan", plan],
    ["before", endWords(before, showing)],
    ["after", endWords(after, showing)],
  ]);
}
