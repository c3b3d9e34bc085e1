import { Argument, type Command, Option } from "commander";
import { ROLES } from "../../../domain/staff.ts";
import { readInput } from "../../../office/input.ts";
import { perform } from "../../../office/office.ts";
import { Refused } from "../../../office/refused.ts";
import { addStaff, changeStaff, MEMBER_COLUMNS } from "../../../office/staff/operations.ts";
import { addStoreCommand, groupNamed } from "../command.ts";
import { shellDesk } from "../desk.ts";
import { print } from "../operation-command.ts";
import { namingOf, refusalOf } from "../refusal.ts";
import { CommandFailed, type Runtime, WrongUsage } from "../runtime.ts";

interface PasswordFlags {
  readonly passwordStdin?: boolean;
}

const PASSWORD_STDIN = new Option("--password-stdin", "read the password from stdin, instead of asking for it");

/** `topupd staff add` and `password`, by hand: they ask for a password. */
export function addPasswordCommands(program: Command, runtime: Runtime): void {
  const group = groupNamed(program, "staff");
  addStoreCommand<{ readonly role: string } & PasswordFlags>(group, runtime, {
    name: "add",
    description: "add an account for somebody, and ask for its password",
    arguments: [new Argument("<NAME>", "a name of up to 64 characters")],
    options: [new Option("--role <ROLE>", "what it may do").choices(ROLES).makeOptionMandatory(), PASSWORD_STDIN],
    examples: ["topupd staff add maya --role admin", "topupd staff add maya --role support --password-stdin"],
    changes: true,
    makesDatabase: () => true,
    async run(session, [name = ""], { role, passwordStdin }) {
      const password = await readPassword(runtime, passwordStdin);
      const add = () => perform(addStaff, shellDesk(session), readInput(addStaff.input, { name, role, password }));
      print(session, await wording(add), MEMBER_COLUMNS);
    },
  });
  addStoreCommand<PasswordFlags>(group, runtime, {
    name: "password",
    description: "give somebody another password, and ask for it: their sessions end",
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
  if (askSecretly === undefined) throw new WrongUsage("stdin is no terminal: give the password by --password-stdin");
  const password = await askSecretly("Password: ");
  if ((await askSecretly("The same again: ")) !== password) throw new CommandFailed("the two are not the same");
  return password;
}

/** Words refusals: a password is no word of the command line. */
async function wording<Answer>(work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof Refused ? refusalOf(error, namingOf(["name"]), { name: true }) : error;
  }
}
