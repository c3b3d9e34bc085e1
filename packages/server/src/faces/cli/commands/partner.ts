import { Argument, type Command, Option } from "commander";
import { Refused } from "../../../domain/refused.ts";
import { readInput } from "../../../office/input.ts";
import { perform } from "../../../office/operation.ts";
import { changePartner, PARTNER_COLUMNS } from "../../../office/partners/operations.ts";
import { addStoreCommand, flags, groupNamed } from "../command.ts";
import { shellDesk } from "../desk.ts";
import { refusalOf, WrongUsage } from "../failures.ts";
import { print } from "../operation-command.ts";
import type { Runtime } from "../runtime.ts";

/** Adds `topupd partner allow`, by hand: `--address` and `--any` are one input of the operation. */
export function addPartnerAllow(program: Command, runtime: Runtime): void {
  addStoreCommand<{ readonly address: readonly string[]; readonly any?: boolean }>(
    groupNamed(program, "partner"),
    runtime,
    {
      name: "allow",
      description: "set the IP addresses that a partner may call from; previous ones are replaced",
      arguments: [new Argument("<NAME>", "the partner's name")],
      options: [
        flags.list("--address <RANGE>", "an IP address, or a range such as 203.0.113.0/24", "none"),
        new Option("--any", "remove the limit: the partner may call from any address"),
      ],
      examples: [
        "topupd partner allow Bank --address 203.0.113.7 --address 2001:db8::/32",
        'topupd partner allow "Blue Wallet" --any',
      ],
      changes: true,
      async run(session, [name = ""], { address, any = false }) {
        if (any === address.length > 0) throw new WrongUsage("use either --address, once or more, or --any");
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
