import { Argument, type Command, Option } from "commander";
import { SERVICES } from "../../../domain/bouquet.ts";
import { ENVIRONMENTS, type Environment, findConnection } from "../../../domain/customer.ts";
import { type ConnectionInput, connectionOrGone, cuidMeant } from "../../../office/customers/find.ts";
import { showLedgers } from "../../../office/customers/ledgers.ts";
import { showCustomer } from "../../../office/customers/operations.ts";
import { customerText, explanationText } from "../../../office/customers/words.ts";
import { perform } from "../../../office/operation.ts";
import { printable } from "../../../office/text.ts";
import { listTransactions } from "../../../office/transactions/operations.ts";
import { addStoreCommand, flags, groupNamed } from "../command.ts";
import { shellDesk } from "../desk.ts";
import { WrongUsage } from "../failures.ts";
import { print } from "../operation-command.ts";
import type { Runtime } from "../runtime.ts";

interface ShowFlags {
  readonly environment: Environment;
  readonly byCuid?: boolean;
}

/** Number of top-ups shown, enough for a telephone call. */
const SHOWN_TOP_UPS = 20;

/** Adds `topupd customer show`, by hand: it finds the customer by any code, and shows the newest top-ups too. */
export function addCustomerCommands(program: Command, runtime: Runtime): void {
  addStoreCommand<ShowFlags>(groupNamed(program, "customer"), runtime, {
    name: "show",
    description: "show a customer: connections, subscriptions and the newest top-ups",
    arguments: [new Argument("<CODE>", "mobile number, customer id, set-top box number, username or name")],
    options: [
      new Option("--by-cuid", "read CODE only as a customer id"),
      flags.environment("environment of the customer"),
    ],
    examples: ['topupd customer show "maya rai"', "topupd customer show 204117 --by-cuid"],
    async run(session, [given = ""], { environment, byCuid = false }) {
      const code = given.trim();
      const cuid = byCuid ? code : await cuidMeant(session.store, environment, code);
      const desk = shellDesk(session);
      const customer = await perform(showCustomer, desk, { environment, cuid });
      const topUps = await perform(listTransactions, desk, { environment, cuid, limit: SHOWN_TOP_UPS });
      print(session, customer, () => customerText(customer, topUps, session.store.provider));
    },
  });
}

/** Adds `topupd why`, by hand: its first argument is optional, and it finds deleted connections too. */
export function addWhyCommand(program: Command, runtime: Runtime): void {
  addStoreCommand<Pick<ConnectionInput, "environment" | "cuid">>(program, runtime, {
    name: "why",
    description: "explain the end date of each subscription of a connection, entry by entry",
    // Both are optional only for commander, which reads a single word as the first argument.
    arguments: [
      new Argument("[SERVICE]", "tv, internet or iptv; needed only if several connections have this REQ-ID"),
      new Argument("[REQ-ID]", "the set-top box number or username"),
    ],
    options: [
      new Option("--cuid <CUID>", "the customer id; needed if the connection changed customers or was deleted"),
      new Option("--environment <ENVIRONMENT>", "search only this environment").choices(ENVIRONMENTS),
    ],
    examples: ["topupd why maya.rai", "topupd why tv 00012345 --cuid 204117"],
    async run(session, words, given) {
      const { store } = session;
      const found = await connectionOrGone({ store }, { ...readConnection(words), ...given });
      const ledgers = await perform(showLedgers, shellDesk(session), found.key);
      const { zone } = store.provider;
      const { connections = [] } = found.connection ? await perform(showCustomer, shellDesk(session), found.key) : {};
      const chain = findConnection(connections, found.key)?.chain;
      print(session, ledgers, () => {
        const text = `${explanationText(found, ledgers)}${chain ? `\n${printable(chain.text)}\n` : ""}`;
        return { out: `${text}\nTimes are in ${zone.name}.\n` };
      });
    },
  });
}

function readConnection([first, second]: readonly (string | undefined)[]) {
  const service = SERVICES.find((known) => known === first);
  // A single word is the REQ-ID unless it is a service.
  const reqId = service === undefined ? (second ?? first) : second;
  if (reqId === undefined) throw new WrongUsage("missing required argument 'REQ-ID': try topupd why internet maya.rai");
  if (service === undefined && second !== undefined)
    throw new WrongUsage(`SERVICE must be one of ${SERVICES.join(", ")}: try topupd why internet maya.rai`);
  return { service, reqId };
}
