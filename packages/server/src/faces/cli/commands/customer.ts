import { Argument, type Command, Option } from "commander";
import type { Environment } from "../../../domain/customer.ts";
import { cuidMeant, mayBeName } from "../../../office/customers/find.ts";
import { showCustomer } from "../../../office/customers/operations.ts";
import { customerText } from "../../../office/customers/words.ts";
import { perform } from "../../../office/office.ts";
import { listTransactions } from "../../../office/transactions/operations.ts";
import { addStoreCommand, groupNamed } from "../command.ts";
import { shellDesk } from "../desk.ts";
import { print } from "../operation-command.ts";
import { flags } from "../options.ts";
import type { Runtime } from "../runtime.ts";

interface Given {
  readonly environment: Environment;
  readonly byCuid?: boolean;
}

/** Top-ups that are shown: as many as help on the telephone. */
const HISTORY = 20;

/** `topupd customer show`: by hand, since it finds the customer by any code, and shows the newest top-ups too. */
export function addCustomerCommands(program: Command, runtime: Runtime): void {
  addStoreCommand<Given>(groupNamed(program, "customer"), runtime, {
    name: "show",
    description: "show a customer: connections, subscriptions and the newest top-ups",
    arguments: [new Argument("<CODE>", "a mobile number, customer id, set-top box number, username or name")],
    options: [
      new Option("--by-cuid", "take CODE for a customer id, and for nothing else"),
      flags.environment("where to look"),
    ],
    examples: ['topupd customer show "maya rai"', "topupd customer show 204117 --by-cuid"],
    async run(session, [given = ""], { environment, byCuid = false }) {
      const code = given.trim();
      // To find a name, the names of all customers may be read.
      if (mayBeName(code)) runtime.lowerPriority();
      const cuid = byCuid ? code : await cuidMeant(session.store, environment, code);
      const desk = shellDesk(session);
      const customer = await perform(showCustomer, desk, { environment, cuid });
      const topUps = await perform(listTransactions, desk, { environment, cuid, limit: HISTORY });
      print(session, customer, () => customerText(customer, topUps, session.store.provider));
    },
  });
}
