import { type Command, Option } from "commander";
import { SERVICES, type Service } from "../../domain/bouquet.ts";
import { ENVIRONMENTS, type Environment } from "../../domain/customer.ts";
import { type ConnectionCandidate, findConnection } from "../../operations/find-connection.ts";
import type { Store } from "../../store/store.ts";
import { CommandFailed, WrongUsage } from "../runtime.ts";
import { printable } from "./text.ts";

/*
 * How a connection is named on a command line: SERVICE REQID, and who has it where that is not enough.
 */

export interface ConnectionFlags {
  readonly environment?: Environment;
  readonly cuid?: string;
}

/** @param whose says when the customer must be named. */
export function addConnectionArguments(command: Command, whose: string): Command {
  command.argument("<SERVICE>", "tv, internet or iptv").argument("<REQID>", "the set-top box number or username");
  return addHolderOptions(command, whose);
}

/** @param whose says when the customer must be named. */
export function addHolderOptions(command: Command, whose: string): Command {
  return command
    .option("--cuid <CUID>", `the customer id, where the connection ${whose}`)
    .addOption(new Option("--environment <ENVIRONMENT>", "look in this one alone").choices(ENVIRONMENTS));
}

/** @param usage of the command, up to SERVICE. @throws WrongUsage that says what to type instead. */
export function readService(usage: string, given: string, reqId: string): Service {
  const service = SERVICES.find((known) => known === given);
  if (service !== undefined) return service;
  const turned = SERVICES.find((known) => known === reqId);
  const example = turned === undefined ? `${usage} internet maya.rai` : `${usage} ${turned} ${given}`;
  throw new WrongUsage(`SERVICE must be ${SERVICES.join(", ")}, but is ${JSON.stringify(given)}: try ${example}`);
}

/** The connection that is to be changed. @throws CommandFailed where it is not there, or several customers have one. */
export async function connectionToChange(store: Store, service: Service, reqId: string, flags: ConnectionFlags) {
  const { environment, cuid } = flags;
  const answer = await findConnection({ store }, { service, reqId, environment, cuid });
  if (answer.kind === "not_found") throw new CommandFailed(noConnection(service, reqId, flags));
  if (answer.kind === "ambiguous") throw new CommandFailed(severalHaveIt(service, reqId, answer.candidates, flags));
  return answer.connection;
}

/** @param service undefined where any was meant, here and below. */
export function noConnection(service: Service | undefined, reqId: string, { cuid }: ConnectionFlags): string {
  return `there is no ${service === undefined ? "" : `${service} `}connection ${reqId}${cuid === undefined ? "" : ` of customer ${cuid}`}`;
}

export function severalHaveIt(
  service: Service | undefined,
  reqId: string,
  candidates: readonly ConnectionCandidate[],
  { environment, cuid }: ConnectionFlags,
): string {
  const environments = new Set(candidates.map(({ connection }) => connection.environment));
  const cuids = new Set(candidates.map(({ connection }) => connection.cuid));
  const services = new Set(candidates.map(({ connection }) => connection.service));
  const words = [
    ...(services.size > 1 ? ["SERVICE"] : []),
    ...(environment === undefined && environments.size > 1 ? ["--environment"] : []),
    ...(cuid === undefined && cuids.size > 1 ? ["--cuid"] : []),
  ];
  const lines = candidates.map(({ connection, customer }) => {
    const name = customer === undefined ? "" : `, ${customer.firstName} ${customer.lastName}`;
    const { service, reqId, environment, cuid } = connection;
    return printable(`  ${service} ${reqId} --environment ${environment} --cuid ${cuid}${name}`);
  });
  const asked = service === undefined ? reqId : `${service} ${reqId}`;
  return `there are several connections ${asked}: say which, with ${words.join(" and ")}\n${lines.join("\n")}`;
}
