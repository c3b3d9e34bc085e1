import { Argument, type Command, Option } from "commander";
import { readInput } from "../../../office/input.ts";
import { perform } from "../../../office/office.ts";
import { changePartner, PARTNER_COLUMNS } from "../../../office/partners/operations.ts";
import { Refused } from "../../../office/refused.ts";
import { addStoreCommand, groupNamed } from "../command.ts";
import { shellDesk } from "../desk.ts";
import { print } from "../operation-command.ts";
import { flags } from "../options.ts";
import { refusalOf } from "../refusal.ts";
import { type Runtime, WrongUsage } from "../runtime.ts";

/** `topupd partner allow`, by hand: `--address` and `--any` are one input of the operation. */
export function addPartnerAllow(program: Command, runtime: Runtime): void {
  addStoreCommand<{ readonly address: readonly string[]; readonly any?: boolean }>(
    groupNamed(program, "partner"),
    runtime,
    {
      name: "allow",
      description: "set the addresses from which a partner may call, in place of any former ones",
      arguments: [new Argument("<NAME>", "the partner's name")],
      options: [
        flags.list("--address <RANGE>", "an address, or a range such as 203.0.113.0/24", "none"),
        new Option("--any", "lift the limit: requests may come from anywhere"),
      ],
      examples: [
        "topupd partner allow Bank --address 203.0.113.7 --address 2001:db8::/32",
        'topupd partner allow "Blue Wallet" --any',
      ],
      changes: true,
      async run(session, [name = ""], { address, any = false }) {
        if (any === address.length > 0) throw new WrongUsage("say either --address, once or more, or --any");
        try {
          const input = readInput(changePartner.input, { name, allowedAddresses: any ? null : address });
          print(session, await perform(changePartner, shellDesk(session), input), PARTNER_COLUMNS);
        } catch (error) {
          throw error instanceof Refused ? refusalOf(error, () => "--address", changePartner.input.properties) : error;
        }
      },
    },
  );
}
