import { type Command, Option } from "commander";
import type { Service } from "../../domain/bouquet.ts";
import { type ConnectionRequest, type ConnectionUnclear, setBlocked } from "../../services/staff/connections.ts";
import { refusalWords } from "../../services/staff/correction-words.ts";
import {
  type GoodwillAnswer,
  type GoodwillReversalAnswer,
  grantGoodwill,
  MOST_GOODWILL_DAYS,
  reverseGoodwill,
  type SubscriptionChange,
} from "../../services/staff/subscriptions.ts";
import { StoreUnavailable } from "../../store/errors.ts";
import { addGroup, addStoreCommand, type Session } from "../command.ts";
import { flags, REQ_ID, SERVICE } from "../options.ts";
import { count, fieldLines, printable, shellWord } from "../output/text.ts";
import { changeFields, changeJson } from "../output/transactions.ts";
import { CommandFailed, type Runtime } from "../runtime.ts";

interface CorrectionFlags extends Pick<ConnectionRequest, "environment" | "cuid"> {
  readonly reason: string;
}

const CONNECTION = [SERVICE, REQ_ID];
const holder = () => flags.holder("is one of several customers'");

function requestOf([service = "", reqId = ""]: readonly string[], { environment, cuid, reason }: CorrectionFlags) {
  return { service: service as Service, reqId, environment, cuid, reason };
}

/** `topupd connection ...`: what staff decide of a connection, whatever imports say. */
export function addConnectionCommands(program: Command, runtime: Runtime): void {
  const group = addGroup(program, "connection", "block and unblock connections");
  for (const [verb, description] of [
    ["block", "keep a connection from being listed and topped up, until unblocked"],
    ["unblock", "let a connection that staff have blocked be topped up again"],
  ] as const) {
    addStoreCommand<CorrectionFlags>(group, runtime, {
      name: verb,
      description,
      arguments: CONNECTION,
      options: [...holder(), flags.reason()],
      examples: [`topupd connection ${verb} internet maya.rai --reason "as the customer asks"`],
      changes: true,
      async run(session, words, given) {
        const request = { ...requestOf(words, given), blocked: verb === "block" };
        const answer = await setBlocked(session, session.actor, request);
        if (answer.kind === "blocked_by_records") throw new CommandFailed(refusalWords(answer));
        if (answer.kind !== "done") throw connectionUnclear(answer, request);
        const { connection, changed } = answer;
        const which = printable(`${connection.service} ${connection.reqId} of customer ${connection.cuid}`);
        const data = { ...connection, blocked: request.blocked, changed };
        session.show(data, `${which} ${changed ? "is now" : "was already"} ${verb}ed\n`);
      },
    });
  }
}

/** Why it is not clear which connection is meant, and what to add to the command line. */
export function connectionUnclear(unclear: ConnectionUnclear, request: ConnectionRequest): CommandFailed {
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

interface GoodwillFlags extends CorrectionFlags {
  readonly plan?: string;
}

/** `topupd subscription ...`: what staff give for nothing, and reverse where that was a mistake. */
export function addSubscriptionCommands(program: Command, runtime: Runtime): void {
  const group = addGroup(program, "subscription", "give goodwill days, and reverse them");
  addStoreCommand<GoodwillFlags & { readonly days: number }>(group, runtime, {
    name: "grant",
    description: "give a subscription days for nothing",
    arguments: CONNECTION,
    options: [
      flags.number("--days <NUMBER>", "how many", MOST_GOODWILL_DAYS).makeOptionMandatory(),
      ...goodwillOptions("which plan, where the connection has several"),
    ],
    examples: ['topupd subscription grant internet maya.rai --days 3 --reason "outage"'],
    changes: true,
    async run(session, words, given) {
      const request = { ...requestOf(words, given), days: given.days, plan: given.plan };
      const answer = await grantGoodwill(session, session.actor, request).catch((error: unknown) => {
        if (!(error instanceof StoreUnavailable)) throw error;
        // Whoever sends it again after a commit whose answer was lost gives them twice.
        const look = "topupd audit list --action subscription.grant";
        throw new CommandFailed(`${error.message}. The days may have been given all the same: look with ${look}`);
      });
      if (answer.kind !== "granted") throw whyNot(answer, request);
      showChange(session, "granted", answer);
    },
  });
  addStoreCommand<GoodwillFlags>(group, runtime, {
    name: "reverse-grant",
    description: "reverse the days that were given last",
    arguments: CONNECTION,
    options: goodwillOptions("which plan, where several have been given days"),
    examples: ['topupd subscription reverse-grant internet maya.rai --reason "typo"'],
    changes: true,
    async run(session, words, given) {
      const request = { ...requestOf(words, given), plan: given.plan };
      const answer = await reverseGoodwill(session, session.actor, request);
      if (answer.kind !== "reversed") throw whyNot(answer, request);
      showChange(session, "reversed", answer);
    },
  });
}

function goodwillOptions(whichPlan: string): Option[] {
  return [new Option("--plan <PLAN>", whichPlan), ...holder(), flags.reason()];
}

type Refused = Exclude<GoodwillAnswer, { kind: "granted" }> | Exclude<GoodwillReversalAnswer, { kind: "reversed" }>;

function whyNot(answer: Refused, request: ConnectionRequest & { readonly plan: string | undefined }): CommandFailed {
  switch (answer.kind) {
    case "no_connection":
    case "several_connections":
      return connectionUnclear(answer, request);
    case "too_long":
    case "history_gone":
    case "not_last":
      return new CommandFailed(refusalWords(answer));
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
      return new CommandFailed(`${refusalWords(answer)}: topupd why shows the entries`);
  }
}

function showChange({ show }: Session, done: string, change: SubscriptionChange): void {
  const { connection, plan, days } = change;
  const words = fieldLines([
    [done, count(days, "day")],
    ["connection", `${connection.service} ${connection.reqId} of customer ${connection.cuid}`],
    ["plan", plan],
    ...changeFields(change),
  ]);
  show({ ...connection, plan, days, ...changeJson(change) }, words);
}
