import { type Command, Option } from "commander";
import { SERVICES, type Service } from "../domain/bouquet.ts";
import { ENVIRONMENTS, type Environment } from "../domain/customer.ts";
import { type Explanation, explainSubscription } from "../operations/explain-subscription.ts";
import { explanationJson, printExplanation } from "./explanation-output.ts";
import { examples } from "./help.ts";
import { jsonOption, type OutputOptions, printJson } from "./output.ts";
import { CommandFailed, type Runtime, WrongUsage } from "./runtime.ts";
import { addSettings, STORE_SETTINGS, withStore } from "./settings.ts";
import { printable } from "./text.ts";
import { showingOf } from "./transaction-output.ts";

interface WhyOptions extends OutputOptions {
  readonly environment?: Environment;
  readonly cuid?: string;
}

/** `topupd why`: how each end date came to be. */
export function addWhyCommand(program: Command, runtime: Runtime): void {
  const command = program
    .command("why")
    .description("explain the end date of each subscription of a connection, grant by grant")
    .argument("<SERVICE>", "tv, internet or iptv")
    .argument("<REQID>", "the set-top box number or username")
    .option("--cuid <CUID>", "the customer id, where the connection was another's once, or is gone")
    .addOption(new Option("--environment <ENVIRONMENT>", "look in this one alone").choices(ENVIRONMENTS))
    .addOption(jsonOption());
  examples(command, ["topupd why internet maya.rai", "topupd why tv 00012345 --cuid 204117"]);
  addSettings(command, STORE_SETTINGS).action(async (given: string, reqId: string, options: WhyOptions) => {
    const service = readService(given, reqId);
    await withStore(command, runtime, { mustExist: true }, async (store) => {
      const { environment, cuid } = options;
      const answer = await explainSubscription({ store }, { service, reqId, environment, cuid });
      if (answer.kind === "not_found") throw new CommandFailed(notFound(service, reqId, options));
      if (answer.kind === "ambiguous")
        throw new CommandFailed(severalHaveIt(service, reqId, answer.candidates, options));
      const showing = await showingOf(store);
      if (options.json === true) printJson(runtime, explanationJson(answer.explanation, showing));
      else printExplanation(runtime, answer.explanation, showing);
    });
  });
}

function readService(given: string, reqId: string): Service {
  const service = SERVICES.find((known) => known === given);
  if (service !== undefined) return service;
  const turned = SERVICES.find((known) => known === reqId);
  const example = turned === undefined ? "topupd why internet maya.rai" : `topupd why ${turned} ${given}`;
  throw new WrongUsage(`SERVICE must be ${SERVICES.join(", ")}, but is ${JSON.stringify(given)}: try ${example}`);
}

function notFound(service: Service, reqId: string, { cuid }: WhyOptions): string {
  const nothing = `there is no ${service} connection ${reqId}${cuid === undefined ? "" : ` of customer ${cuid}`}`;
  return cuid === undefined ? `${nothing}: if it is gone, name its customer with --cuid` : nothing;
}

function severalHaveIt(
  service: Service,
  reqId: string,
  candidates: readonly Explanation[],
  { environment, cuid }: WhyOptions,
): string {
  const environments = new Set(candidates.map(({ connection }) => connection.environment));
  const cuids = new Set(candidates.map(({ connection }) => connection.cuid));
  const flags = [
    ...(environment === undefined && environments.size > 1 ? ["--environment"] : []),
    ...(cuid === undefined && cuids.size > 1 ? ["--cuid"] : []),
  ];
  const lines = candidates.map(({ connection, customer }) => {
    const name = customer === undefined ? "" : `, ${customer.firstName} ${customer.lastName}`;
    return printable(`  --environment ${connection.environment} --cuid ${connection.cuid}${name}`);
  });
  return `several customers have ${service} ${reqId}: say which, with ${flags.join(" and ")}\n${lines.join("\n")}`;
}
