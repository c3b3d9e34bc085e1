import { type Command, Option } from "commander";
import { SERVICES, type Service } from "../../domain/bouquet.ts";
import { ENVIRONMENTS, type Environment } from "../../domain/customer.ts";
import { type ConnectionRequest, type ConnectionUnclear, setBlocked } from "../../services/staff/connections.ts";
import { addGroup, addStoreCommand } from "../command.ts";
import { flags, readReason } from "../options.ts";
import { type OutputOptions, printable, show } from "../output/text.ts";
import { CommandFailed, type Runtime, WrongUsage } from "../runtime.ts";

export interface ConnectionFlags {
  readonly environment?: Environment;
  readonly cuid?: string;
}

export const CONNECTION = {
  "<SERVICE>": "tv, internet or iptv",
  "<REQID>": "the set-top box number or username",
};

/** @param whose says when the customer must be named. */
export function holderOptions(whose = "is one of several customers'"): Option[] {
  return [
    new Option("--cuid <CUID>", `the customer id, where the connection ${whose}`),
    new Option("--environment <ENVIRONMENT>", "look in this one alone").choices(ENVIRONMENTS),
  ];
}

/** @throws WrongUsage that says what to type instead. */
export function readService(given: string, reqId: string): Service {
  const service = SERVICES.find((known) => known === given);
  if (service !== undefined) return service;
  const isTurned = SERVICES.some((known) => known === reqId);
  const example = isTurned ? `${reqId} ${given}` : "internet maya.rai";
  throw new WrongUsage(`SERVICE must be ${SERVICES.join(", ")}, but is ${JSON.stringify(given)}: try ${example}`);
}

/** Why it is not clear which connection is meant, and what to add to the command line. */
export function connectionUnclear(unclear: ConnectionUnclear, request: ConnectionRequest): CommandFailed {
  const { service, reqId, cuid } = request;
  const asked = service === undefined ? "" : `${service} `;
  if (unclear.kind === "no_connection") {
    const nothing = `there is no ${asked}connection ${reqId}`;
    return new CommandFailed(printable(cuid === undefined ? nothing : `${nothing} of customer ${cuid}`));
  }
  const lines = unclear.candidates.map(({ connection, customer }) => {
    const name = customer === undefined ? "" : `, ${customer.firstName} ${customer.lastName}`;
    const flags = `--environment ${connection.environment} --cuid ${connection.cuid}`;
    return printable(`  ${connection.service} ${connection.reqId} ${flags}${name}`);
  });
  return new CommandFailed(`there are several connections ${printable(asked + reqId)}: say which\n${lines.join("\n")}`);
}

interface BlockOptions extends OutputOptions, ConnectionFlags {
  readonly reason: string;
}

/** `topupd connection ...`: what staff decide of a connection, whatever imports say. */
export function addConnectionCommands(program: Command, runtime: Runtime): void {
  const group = addGroup(program, "connection", "block and unblock connections");
  for (const [verb, description] of [
    ["block", "keep a connection from being listed and topped up, until unblocked"],
    ["unblock", "let a connection that staff have blocked be topped up again"],
  ] as const) {
    addStoreCommand<BlockOptions>(group, runtime, {
      name: verb,
      description,
      arguments: CONNECTION,
      options: [...holderOptions(), flags.reason()],
      examples: [`topupd connection ${verb} internet maya.rai --reason "as the customer asks"`],
      changes: true,
      async run(session, [given = "", reqId = ""], options) {
        const { environment, cuid } = options;
        const [service, blocked, reason] = [readService(given, reqId), verb === "block", readReason(options.reason)];
        const request = { service, reqId, environment, cuid, blocked, reason };
        const answer = await setBlocked(session, session.actor, request);
        if (answer.kind === "blocked_by_records")
          throw new CommandFailed(
            "the provider's own records say that it is blocked: correct them, and import them. Staff have not blocked it",
          );
        if (answer.kind !== "done") throw connectionUnclear(answer, request);
        const { connection, changed } = answer;
        const which = `${connection.service} ${connection.reqId} of customer ${connection.cuid}`;
        const words = `${printable(which)} ${changed ? "is now" : "was already"} ${verb}ed\n`;
        show(runtime, options, { ...connection, blocked, changed }, words);
      },
    });
  }
}
