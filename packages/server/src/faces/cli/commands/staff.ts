import { Argument, type Command, Option } from "commander";
import { ROLES } from "../../../domain/authority.ts";
import { ENVIRONMENTS } from "../../../domain/customer.ts";
import { Refused } from "../../../domain/refused.ts";
import { readInput } from "../../../office/input.ts";
import { perform } from "../../../office/operation.ts";
import { addStaff, changeStaff, MEMBER_COLUMNS } from "../../../office/staff/operations.ts";
import { addStoreCommand, groupNamed } from "../command.ts";
import { shellDesk } from "../desk.ts";
import { CommandFailed, namingOf, refusalOf, WrongUsage } from "../failures.ts";
import { print } from "../operation-command.ts";
import type { Runtime } from "../runtime.ts";

interface PasswordFlags {
  readonly passwordStdin?: boolean;
}

interface SellerFlags {
  readonly role?: string;
  readonly sellerOf?: string;
  readonly environment?: string;
}

const PASSWORD_STDIN = new Option("--password-stdin", "read the password from stdin instead of asking for it");

/** Adds `topupd staff add` and `password`. They are written by hand, since they ask for a password. */
export function addPasswordCommands(program: Command, runtime: Runtime): void {
  const group = groupNamed(program, "staff");
  addStoreCommand<SellerFlags & PasswordFlags>(group, runtime, {
    name: "add",
    description: "add a person's account, and ask for its password",
    arguments: [new Argument("<NAME>", "a name of up to 64 characters")],
    options: [
      new Option("--role <ROLE>", "role of the account, unless it is a seller's").choices(ROLES),
      new Option("--seller-of <PARTNER>", "make a seller of this partner, who logs in at the counter"),
      new Option("--environment <NAME>", "environment of a seller (default: production)").choices(ENVIRONMENTS),
      PASSWORD_STDIN,
    ],
    examples: [
      "topupd staff add maya --role admin",
      "topupd staff add maya --role support --password-stdin",
      'topupd staff add mina --seller-of "Counter Lalitpur"',
    ],
    changes: true,
    makesDatabase: () => true,
    async run(session, [name = ""], { role, sellerOf, environment, passwordStdin }) {
      if ((role === undefined) === (sellerOf === undefined))
        throw new WrongUsage("give --role, or --seller-of for a seller: one of them");
      const password = await readPassword(runtime, passwordStdin);
      const input = { name, role, sellerOf, environment, password };
      const add = () => perform(addStaff, shellDesk(session), readInput(addStaff.input, input));
      print(session, await wording(add), MEMBER_COLUMNS);
    },
  });
  addStoreCommand<PasswordFlags>(group, runtime, {
    name: "password",
    description: "set a person's password, and end their sessions",
    arguments: [new Argument("<NAME>", "the person's name")],
    options: [PASSWORD_STDIN],
    examples: ["topupd staff password maya", "topupd staff password maya --password-stdin"],
    changes: true,
    async run(session, [name = ""], { passwordStdin }) {
      const password = await readPassword(runtime, passwordStdin);
      print(session, await wording(() => perform(changeStaff, shellDesk(session), { name, password })), MEMBER_COLUMNS);
    },
  });
}

async function readPassword({ askSecretly, readStdin }: Runtime, fromStdin = false): Promise<string> {
  if (fromStdin) return (await readStdin()).replace(/\r?\n$/, "");
  if (askSecretly === undefined) throw new WrongUsage("stdin is not a terminal: use --password-stdin");
  const password = await askSecretly("Password: ");
  if ((await askSecretly("Repeat it: ")) !== password) throw new CommandFailed("the passwords differ: try again");
  return password;
}

/** Words refusals of a name and a password. The password is not on the command line. */
async function wording<Answer>(work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof Refused ? refusalOf(error, namingOf(["name"]), { name: true }) : error;
  }
}
