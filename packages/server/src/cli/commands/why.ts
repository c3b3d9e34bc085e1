import type { Command } from "commander";
import { SERVICES, type Service } from "../../domain/bouquet.ts";
import { explainSubscription } from "../../operations/explain-subscription.ts";
import { examples } from "../help.ts";
import { jsonOption, type OutputOptions, printJson } from "../output.ts";
import { CommandFailed, type Runtime } from "../runtime.ts";
import { addSettings, STORE_SETTINGS, withStore } from "../settings.ts";
import {
  addHolderOptions,
  type ConnectionFlags,
  noConnection,
  readService,
  severalHaveIt,
} from "../words/connection-words.ts";
import { explanationJson, printExplanation } from "../words/explanation-output.ts";
import { showingOf } from "../words/transaction-output.ts";

interface WhyOptions extends OutputOptions, ConnectionFlags {}

/** `topupd why`: how each end date came to be. */
export function addWhyCommand(program: Command, runtime: Runtime): void {
  const command = program
    .command("why")
    .description("explain the end date of each subscription of a connection, grant by grant")
    .argument("[SERVICE]", "tv, internet or iptv, where several have this REQID")
    // Optional only for commander: of a single word, it takes the last argument to be missing.
    .argument("[REQID]", "the set-top box number or username");
  addHolderOptions(command, "was another's once, or is gone").addOption(jsonOption());
  examples(command, ["topupd why maya.rai", "topupd why tv 00012345 --cuid 204117"]);
  addSettings(command, STORE_SETTINGS).action(
    async (first: string | undefined, second: string | undefined, options: WhyOptions) => {
      const reqId = second ?? first;
      if (reqId === undefined || (second === undefined && SERVICES.some((each) => each === reqId)))
        return command.error("error: missing required argument 'REQID'");
      const service = second === undefined ? undefined : readService("topupd why", first as string, reqId);
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
    },
  );
}

function notFound(service: Service | undefined, reqId: string, options: WhyOptions): string {
  const nothing = noConnection(service, reqId, options);
  return options.cuid === undefined ? `${nothing}: if it is gone, name its customer with --cuid` : nothing;
}
