import { Argument, type Command, Option } from "commander";
import { ROLES, type Role } from "../../../domain/staff.ts";
import { printable, table } from "../../../office/text.ts";
import {
  addStaff,
  addStaffKey,
  changeRole,
  listStaff,
  listStaffKeys,
  removeStaff,
  removeStaffKey,
  type StaffChanged,
  setPassword,
  switchTotpOff,
} from "../../../services/staff/accounts.ts";
import { memberData, staffKeyData } from "../../../services/staff/data.ts";
import { addGroup, addStoreCommand, type Session } from "../command.ts";
import { CommandFailed, type Runtime, WrongUsage } from "../runtime.ts";

interface RoleFlags {
  readonly role: Role;
}

interface PasswordFlags {
  readonly passwordStdin?: boolean;
}

const NAME = [new Argument("<NAME>", "the person's name")];
const KEY_NAME = [new Argument("<NAME>", "the key's name")];
const PASSWORD_STDIN = new Option("--password-stdin", "read the password from stdin, instead of asking for it");
const roleOption = () => new Option("--role <ROLE>", "what it may do").choices(ROLES).makeOptionMandatory();

/** `topupd staff ...`: who works with the console, and which systems use the staff API. */
export function addStaffCommands(program: Command, runtime: Runtime): void {
  const group = addGroup(program, "staff", "the people who work with the console, and keys for the staff API");
  addStoreCommand<RoleFlags & PasswordFlags>(group, runtime, {
    name: "add",
    description: "add an account for somebody, and ask for its password",
    arguments: [new Argument("<NAME>", "a name of up to 64 characters")],
    options: [roleOption(), PASSWORD_STDIN],
    examples: ["topupd staff add maya --role admin", "topupd staff add maya --role support --password-stdin"],
    changes: true,
    makesDatabase: () => true,
    async run(session, [name = ""], { role, passwordStdin }) {
      const password = await readPassword(runtime, passwordStdin);
      const added = await addStaff({ ...session, accounts: runtime.accounts }, session.actor, { name, role, password });
      if (added.kind === "bad_name") throw new WrongUsage(`${BAD_NAME}, and not begin with "key "`);
      if (added.kind === "bad_password") throw new CommandFailed(`the password ${added.problem}`);
      if (added.kind === "name_taken") throw new CommandFailed(`there is an account named ${name} already`);
      showStaff(session, name, { kind: "changed", member: added.member });
    },
  });
  addStoreCommand<object>(group, runtime, {
    name: "list",
    description: "list the accounts, and who gives a one-time code beside the password",
    examples: ["topupd staff list", "topupd staff list --json"],
    async run(session) {
      const rows = (await listStaff(session)).map(memberData);
      session.show(rows, table(COLUMNS, rows));
    },
  });
  addStoreCommand<object>(group, runtime, {
    name: "role",
    description: "give somebody another role: their sessions end",
    arguments: [...NAME, new Argument("<ROLE>", "what they may do").choices(ROLES)],
    examples: ["topupd staff role maya finance"],
    changes: true,
    async run(session, [name = "", role]) {
      showStaff(session, name, await changeRole(session, session.actor, { name, role: role as Role }));
    },
  });
  addStoreCommand<PasswordFlags>(group, runtime, {
    name: "password",
    description: "give somebody another password, and ask for it: their sessions end",
    arguments: NAME,
    options: [PASSWORD_STDIN],
    examples: ["topupd staff password maya", "topupd staff password maya --password-stdin"],
    changes: true,
    async run(session, [name = ""], { passwordStdin }) {
      const password = await readPassword(runtime, passwordStdin);
      const set = await setPassword({ ...session, accounts: runtime.accounts }, session.actor, { name, password });
      if (set.kind === "bad_password") throw new CommandFailed(`the password ${set.problem}`);
      showStaff(session, name, set);
    },
  });
  addStoreCommand<object>(group, runtime, {
    name: "totp-off",
    description: "ask somebody for no one-time code any more: their sessions end",
    arguments: NAME,
    examples: ["topupd staff totp-off maya"],
    changes: true,
    async run(session, [name = ""]) {
      showStaff(session, name, await switchTotpOff(session, session.actor, { name }));
    },
  });
  addStoreCommand<object>(group, runtime, {
    name: "remove",
    description: "remove an account: the person's sessions end",
    arguments: NAME,
    examples: ["topupd staff remove maya"],
    changes: true,
    async run(session, [name = ""]) {
      showStaff(session, name, await removeStaff(session, session.actor, { name }));
    },
  });
  addKeyCommands(group, runtime);
}

function addKeyCommands(staff: Command, runtime: Runtime): void {
  const group = addGroup(staff, "key", "keys with which your other systems use the staff API");
  addStoreCommand<RoleFlags>(group, runtime, {
    name: "add",
    description: "make a key: it is printed once, and stored nowhere",
    arguments: [new Argument("<NAME>", "the system's name, of up to 64 characters")],
    options: [roleOption()],
    examples: ["topupd staff key add billing --role admin", "topupd staff key add crm --role viewer --json"],
    changes: true,
    async run(session, [name = ""], { role }) {
      const added = await addStaffKey(session, session.actor, { name, role });
      if (added.kind === "bad_name") throw new WrongUsage(BAD_NAME);
      if (added.kind === "name_taken") throw new CommandFailed(`there is a key named ${name} already`);
      session.show({ key: added.key, ...staffKeyData(added.record) }, `${added.key}\n`);
      if (session.isJson) return;
      runtime.stderr(`This is the only time that the key ${printable(name)} is shown. It has the role ${role}.\n`);
    },
  });
  addStoreCommand<object>(group, runtime, {
    name: "list",
    description: "list the keys, without what is secret, and when each was last used, a minute late",
    examples: ["topupd staff key list", "topupd staff key list --json"],
    async run(session) {
      const rows = (await listStaffKeys(session)).map(staffKeyData);
      session.show(rows, table(KEY_COLUMNS, rows));
    },
  });
  addStoreCommand<object>(group, runtime, {
    name: "remove",
    description: "remove a key: it holds nowhere from then on",
    arguments: KEY_NAME,
    examples: ["topupd staff key remove billing"],
    changes: true,
    async run(session, [name = ""]) {
      const removed = await removeStaffKey(session, session.actor, { name });
      if (removed === undefined) throw new CommandFailed(`there is no key named ${name}`);
      session.show(staffKeyData(removed), table(KEY_COLUMNS, [staffKeyData(removed)]));
    },
  });
}

const BAD_NAME = "NAME must have 1 to 64 characters, no blank at either end, and no blank but the space";
const COLUMNS = ["name", "role", "createdAt", "hasTotp"];
const KEY_COLUMNS = ["name", "role", "createdAt", "lastUsedAt"];

async function readPassword({ askSecretly, readStdin }: Runtime, fromStdin = false): Promise<string> {
  if (fromStdin) return (await readStdin()).replace(/\r?\n$/, "");
  if (askSecretly === undefined) throw new WrongUsage("stdin is no terminal: give the password by --password-stdin");
  const password = await askSecretly("Password: ");
  if ((await askSecretly("The same again: ")) !== password) throw new CommandFailed("the two are not the same");
  return password;
}

function showStaff({ show }: Session, name: string, changed: StaffChanged): void {
  if (changed.kind === "not_found") throw new CommandFailed(`there is no account named ${name}`);
  if (changed.kind === "last_admin")
    throw new CommandFailed(`${name} is the last admin: give somebody else the role first`);
  show(memberData(changed.member), table(COLUMNS, [memberData(changed.member)]));
}
