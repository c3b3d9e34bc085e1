import { Argument, type Command, Option } from "commander";
import { SERVICES } from "../../../domain/bouquet.ts";
import { ENVIRONMENTS } from "../../../domain/customer.ts";
import type { ConnectionInput } from "../../../office/corrections/connection.ts";
import { connectionOrGone } from "../../../office/customers/connection.ts";
import { explanationText } from "../../../office/customers/ledger-words.ts";
import { showLedgers } from "../../../office/customers/ledgers.ts";
import { perform } from "../../../office/office.ts";
import { addStoreCommand } from "../command.ts";
import { shellDesk } from "../desk.ts";
import { print } from "../operation-command.ts";
import { type Runtime, WrongUsage } from "../runtime.ts";

type Given = Pick<ConnectionInput, "environment" | "cuid">;

/** `topupd why`: by hand, since its first argument is optional, and since it finds a connection that is gone. */
export function addWhyCommand(program: Command, runtime: Runtime): void {
  addStoreCommand<Given>(program, runtime, {
    name: "why",
    description: "explain the end date of each subscription of a connection, entry by entry",
    // Optional only for commander: of a single word, it takes the last argument to be missing.
    arguments: [
      new Argument("[SERVICE]", "tv, internet or iptv, if several have this REQID"),
      new Argument("[REQID]", "the set-top box number or username"),
    ],
    options: [
      new Option("--cuid <CUID>", "the customer id, if the connection was another's once, or is gone"),
      new Option("--environment <ENVIRONMENT>", "only in this environment").choices(ENVIRONMENTS),
    ],
    examples: ["topupd why maya.rai", "topupd why tv 00012345 --cuid 204117"],
    async run(session, words, given) {
      const { store, clock } = session;
      const found = await connectionOrGone({ store }, { ...readConnection(words), ...given });
      const ledgers = await perform(showLedgers, shellDesk(session), found.key);
      const { zone } = store.provider;
      print(session, ledgers, () => {
        const text = explanationText(found, ledgers, zone.wallTime(clock()));
        return { out: `${text}\nTimes are those of ${zone.name}.\n` };
      });
    },
  });
}

function readConnection([first, second]: readonly (string | undefined)[]) {
  const service = SERVICES.find((known) => known === first);
  // A single word is the REQID, unless it is a SERVICE.
  const reqId = service === undefined ? (second ?? first) : second;
  if (reqId === undefined) throw new WrongUsage("missing required argument 'REQID': try topupd why internet maya.rai");
  if (service === undefined && second !== undefined)
    throw new WrongUsage(`SERVICE must be one of ${SERVICES.join(", ")}: try topupd why internet maya.rai`);
  return { service, reqId };
}
