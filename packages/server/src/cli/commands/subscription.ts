import { type Command, Option } from "commander";
import {
  type GoodwillAnswer,
  type GoodwillReversalAnswer,
  grantGoodwill,
  MOST_GOODWILL_DAYS,
  reverseGoodwill,
  type SubscriptionChange,
} from "../../services/staff/subscriptions.ts";
import { StoreUnavailable } from "../../store/errors.ts";
import { addGroup, addStoreCommand } from "../command.ts";
import { flags, readReason, readWholeNumber } from "../options.ts";
import { count, fieldLines, type OutputOptions, shellWord, show } from "../output/text.ts";
import { changeFields, changeJson } from "../output/transactions.ts";
import { CommandFailed, type Runtime } from "../runtime.ts";
import { CONNECTION, type ConnectionFlags, connectionUnclear, holderOptions, readService } from "./connection.ts";

interface GoodwillOptions extends OutputOptions, ConnectionFlags {
  readonly plan?: string;
  readonly reason: string;
}

/** `topupd subscription ...`: what staff give for nothing, and reverse where that was a mistake. */
export function addSubscriptionCommands(program: Command, runtime: Runtime): void {
  const group = addGroup(program, "subscription", "give goodwill days, and reverse them");
  addStoreCommand<GoodwillOptions & { readonly days: string }>(group, runtime, {
    name: "grant",
    description: "give a subscription days for nothing",
    arguments: CONNECTION,
    options: [
      new Option("--days <NUMBER>", `how many, up to ${MOST_GOODWILL_DAYS}`).makeOptionMandatory(),
      ...goodwillOptions("which plan, where the connection has several"),
    ],
    examples: [
      'topupd subscription grant internet maya.rai --days 3 --reason "outage"',
      'topupd subscription grant tv 00012345 --days 7 --plan Family --reason "outage"',
    ],
    changes: true,
    async run(session, words, options) {
      const days = readWholeNumber("--days", options.days, MOST_GOODWILL_DAYS);
      const request = { ...readRequest(words, options), days };
      const answer = await grantGoodwill(session, session.actor, request).catch((error: unknown) => {
        if (!(error instanceof StoreUnavailable)) throw error;
        // Whoever sends it again after a commit whose answer was lost gives them twice.
        const look = "topupd audit list --action subscription.grant";
        throw new CommandFailed(`${error.message}. The days may have been given all the same: look with ${look}`);
      });
      if (answer.kind !== "granted") throw whyNot(answer, request);
      print(runtime, options, "granted", answer);
    },
  });
  addStoreCommand<GoodwillOptions>(group, runtime, {
    name: "reverse-grant",
    description: "reverse the days that were given last",
    arguments: CONNECTION,
    options: goodwillOptions("which plan, where several have been given days"),
    examples: ['topupd subscription reverse-grant internet maya.rai --reason "typo"'],
    changes: true,
    async run(session, words, options) {
      const request = readRequest(words, options);
      const answer = await reverseGoodwill(session, session.actor, request);
      if (answer.kind !== "reversed") throw whyNot(answer, request);
      print(runtime, options, "reversed", answer);
    },
  });
}

function goodwillOptions(whichPlan: string): Option[] {
  return [new Option("--plan <PLAN>", whichPlan), ...holderOptions(), flags.reason()];
}

function readRequest([given = "", reqId = ""]: readonly (string | undefined)[], options: GoodwillOptions) {
  const { plan, environment, cuid } = options;
  return { service: readService(given, reqId), reqId, plan, environment, cuid, reason: readReason(options.reason) };
}

type Refused = Exclude<GoodwillAnswer, { kind: "granted" }> | Exclude<GoodwillReversalAnswer, { kind: "reversed" }>;

function whyNot(answer: Refused, request: ReturnType<typeof readRequest>): CommandFailed {
  switch (answer.kind) {
    case "no_connection":
    case "several_connections":
      return connectionUnclear(answer, request);
    case "too_long":
      return new CommandFailed("no calendar goes as far as the subscription would then last");
    case "ambiguous": {
      const plans = answer.plans.map(shellWord).join(" or --plan ");
      return new CommandFailed(`several subscriptions may be meant: say which, with --plan ${plans}`);
    }
    case "no_subscription": {
      const known = answer.plans.length === 0 ? "it has none" : `it has ${answer.plans.map(shellWord).join(", ")}`;
      const which = request.plan === undefined ? "base subscription" : `subscription of the plan ${request.plan}`;
      return new CommandFailed(`there is no ${which} to give days to: ${known}`);
    }
    case "not_found":
    case "already_reversed":
      return new CommandFailed("no days were given that are not reversed yet: topupd why shows the entries");
    case "history_gone":
      return new CommandFailed("what there was before these days were given was let go (topupd prune), so they stay");
  }
}

function print(runtime: Runtime, options: OutputOptions, done: string, change: SubscriptionChange): void {
  const { connection, plan, days } = change;
  const words = fieldLines([
    [done, count(days, "day")],
    ["connection", `${connection.service} ${connection.reqId} of customer ${connection.cuid}`],
    ["plan", plan],
    ...changeFields(change),
  ]);
  show(runtime, options, { ...connection, plan, days, ...changeJson(change) }, words);
}
