import { Type } from "typebox";
import { hashSecret } from "../../domain/access-token.ts";
import { ROLES } from "../../domain/authority.ts";
import { STAFF_NAME } from "../../domain/names.ts";
import { Refused } from "../../domain/refused.ts";
import {
  allowedTo,
  formatStaffKey,
  LOG_IN_WAYS,
  STAFF_SECRET_RANDOM_BYTES,
  type StaffKey,
  type StaffMember,
  staffAdded,
  staffKeyAdded,
  staffKeyRemoved,
  staffRemoved,
} from "../../domain/staff.ts";
import { isoTime, isoTimeOrNull } from "../../domain/wall-time.ts";
import { InstantSchema, NameSchema, oneOf, onePage, orNull, pageOf, RoleSchema } from "../common.ts";
import { decide } from "../decide.ts";
import type { Office } from "../office.ts";
import { type Operation, operation, type Shown } from "../operation.ts";
import { printable } from "../text.ts";
import { refusePassword } from "./passwords.ts";
import * as sql from "./sql.ts";
import { type AccountChanges, changeAccount, memberNamed, NO_TOTP, refuseLastAdmin } from "./sql.ts";

export const MemberName = Type.String({ description: "The person's name." });
export const NewMemberName = Type.String({
  pattern: STAFF_NAME.source,
  "x-problem":
    'must have 1 to 64 characters, no blank at either end, no blank but the space, and not begin with "key "',
  description: "A name of up to 64 characters.",
});
export const KeyName = Type.String({ description: "The key's name." });

export const RoleInput = oneOf(ROLES, "What it may do.");

export const LogInWaySchema = oneOf(LOG_IN_WAYS, "`oidc` is OpenID Connect.");

export const StaffMemberSchema = Type.Object(
  {
    name: Type.String(),
    role: orNull(RoleSchema),
    createdAt: InstantSchema,
    lastLogInAt: orNull(InstantSchema),
    hasTotp: Type.Boolean(),
    logsInWith: LogInWaySchema,
  },
  { title: "StaffMember" },
);

const KEY = { name: Type.String(), role: RoleSchema, createdAt: InstantSchema, lastUsedAt: orNull(InstantSchema) };
export const StaffKeySchema = Type.Object(KEY, { title: "StaffKey" });
export const AddedStaffKeySchema = Type.Object(
  { ...KEY, key: Type.String({ description: "Shown only once." }) },
  { title: "AddedStaffKey" },
);

const RoleTextSchema = Type.Object({ role: RoleSchema, may: Type.String() }, { title: "RoleText" });

/* The accounts of people, and the keys of systems. */

const AS = { tag: "Staff", permission: "administer" } as const;
const CHANGES = { ...AS, asksPassword: true } as const;
const BY_NAME = ["name"] as const;
export const MEMBER_COLUMNS = ["name", "role", "createdAt", "lastLogInAt", "hasTotp", "logsInWith"];
const KEY_COLUMNS = ["name", "role", "createdAt", "lastUsedAt"];

export const listStaff = operation({
  ...AS,
  http: "GET /staff",
  summary: "List people's accounts",
  input: Type.Object({}),
  answer: pageOf(StaffMemberSchema),
  cli: [
    {
      words: "staff list",
      summary: "list the accounts with their last log-in, and who needs a one-time code",
      show: MEMBER_COLUMNS,
      examples: ["topupd staff list", "topupd staff list --json"],
    },
  ],
  run: async ({ store }) => onePage((await sql.readStaff(store.engine.db)).map(memberData)),
});

export const listRoles = operation({
  ...AS,
  http: "GET /roles",
  summary: "List the roles of people and keys, with what each may do",
  input: Type.Object({}),
  answer: pageOf(RoleTextSchema),
  run: async () => onePage(ROLES.map((role) => ({ role, may: allowedTo(role) }))),
});

export const addStaff = operation({
  ...CHANGES,
  http: "POST /staff",
  status: 201,
  summary: "Add a person, who must change the password at the first log-in",
  refuses: ["conflict"],
  input: Type.Object({ name: NewMemberName, role: RoleInput, password: Type.String() }),
  answer: StaffMemberSchema,
  async run(office, { name, role, password }) {
    const hashed = await hashNew(office, password, name);
    return decide(office, "reference", async (tx) => {
      const staff = await sql.readStaff(tx);
      if (staff.some((each) => each.name === name))
        throw new Refused("conflict", `there is an account named ${name} already`);
      const { at } = office.by;
      const isNew = {
        lastLogInAt: undefined,
        hasTotp: false,
        mustChangePassword: true,
        logsInWith: "password",
      } as const;
      const member = { id: sql.nextId(staff, at), name, role, createdAt: at, ...isNew };
      const write = () => sql.insertMember(tx, member, { password: hashed, oidcSubject: null });
      return { answer: memberData(member), change: { write, audit: [staffAdded(member)] } };
    });
  },
});

export const changeStaff = operation({
  ...CHANGES,
  http: "PATCH /staff/:name",
  summary: "Change another person's role or password, or switch their one-time codes off; their log-ins end",
  refuses: ["conflict", "own_account"],
  input: Type.Object({
    name: MemberName,
    role: Type.Optional(RoleInput),
    password: Type.Optional(Type.String()),
    totp: Type.Optional(Type.Literal(false)),
  }),
  answer: StaffMemberSchema,
  cli: [
    {
      words: "staff role",
      summary: "change a person's role and end their sessions",
      arguments: ["name", "role"],
      given: { password: undefined, totp: undefined },
      show: MEMBER_COLUMNS,
      examples: ["topupd staff role maya finance"],
    },
    {
      words: "staff totp-off",
      summary: "turn off a person's one-time codes and end their sessions",
      arguments: BY_NAME,
      given: { role: undefined, password: undefined, totp: false },
      show: MEMBER_COLUMNS,
      examples: ["topupd staff totp-off maya"],
    },
  ],
  async run(office, { name, role, password, totp }) {
    refuseOwn(office, name);
    const changes: AccountChanges = [
      ...(password === undefined
        ? []
        : [["staff.password", { password: await hashNew(office, password, name), mustChangePassword: true }] as const]),
      ...(role === undefined ? [] : [["staff.role", { role }] as const]),
      ...(totp === undefined ? [] : [["staff.totp_off", NO_TOTP] as const]),
    ];
    if (changes.length === 0)
      throw new Refused("invalid", "say what to change: the role, the password or one-time codes");
    return memberData(await changeAccount(office, name, changes));
  },
});

export const removeStaff = operation({
  ...CHANGES,
  http: "DELETE /staff/:name",
  summary: "Remove a person: their sessions end",
  refuses: ["conflict", "own_account"],
  input: Type.Object({ name: MemberName }),
  cli: [{ words: "staff remove", arguments: BY_NAME, show: removed, examples: ["topupd staff remove maya"] }],
  async run(office, { name }) {
    refuseOwn(office, name);
    return decide(office, "reference", async (tx) => {
      const staff = await sql.readStaff(tx);
      const member = memberNamed(staff, name);
      refuseLastAdmin(staff, name);
      return {
        answer: undefined,
        change: { write: () => sql.deleteMember(tx, member), audit: [staffRemoved(member)] },
      };
    });
  },
});

export const listStaffKeys = operation({
  ...AS,
  http: "GET /staff-keys",
  summary: "List the keys of systems",
  input: Type.Object({}),
  answer: pageOf(StaffKeySchema),
  cli: [
    {
      words: "staff key list",
      summary: "list keys with their last use (up to a minute late); their values are not shown",
      show: KEY_COLUMNS,
      examples: ["topupd staff key list", "topupd staff key list --json"],
    },
  ],
  run: async ({ store }) => onePage((await sql.readKeys(store.engine.db)).map(keyData)),
});

export const addStaffKey = operation({
  ...CHANGES,
  http: "POST /staff-keys",
  status: 201,
  isSecret: true,
  summary: "Make a key for a system: it is shown once, and stored nowhere",
  refuses: ["conflict"],
  input: Type.Object({ name: NameSchema, role: RoleInput }),
  answer: AddedStaffKeySchema,
  cli: [
    {
      words: "staff key add",
      arguments: BY_NAME,
      show: keyLines,
      examples: ["topupd staff key add billing --role admin", "topupd staff key add crm --role viewer --json"],
    },
  ],
  async run(office, { name, role }) {
    const key = formatStaffKey(office.random(STAFF_SECRET_RANDOM_BYTES));
    return decide(office, "reference", async (tx) => {
      if ((await sql.readKeys(tx)).some((each) => each.name === name))
        throw new Refused("conflict", `there is a key named ${name} already`);
      const added: StaffKey = { name, role, createdAt: office.by.at, lastUsedAt: undefined };
      const write = () => sql.insertKey(tx, added, hashSecret(key));
      return { answer: { ...keyData(added), key }, change: { write, audit: [staffKeyAdded(added)] } };
    });
  },
});

export const removeStaffKey = operation({
  ...CHANGES,
  http: "DELETE /staff-keys/:name",
  summary: "Remove a key: it is refused everywhere from then on",
  input: Type.Object({ name: KeyName }),
  cli: [
    { words: "staff key remove", arguments: BY_NAME, show: removed, examples: ["topupd staff key remove billing"] },
  ],
  run: (office, { name }) =>
    decide(office, "reference", async (tx) => {
      const key = (await sql.readKeys(tx)).find((each) => each.name === name);
      if (key === undefined) throw new Refused("not_found", `there is no key named ${name}`);
      return { answer: undefined, change: { write: () => sql.deleteKey(tx, key), audit: [staffKeyRemoved(key)] } };
    }),
});

/** Hashes a new password. @throws Refused if it is easily guessed. */
async function hashNew({ accounts }: Office, password: string, name: string): Promise<string> {
  const refused = refusePassword(password, name);
  if (refused !== undefined) throw Refused.field("password", refused.problem);
  return accounts.hashPassword(password);
}

/** Refuses changes of one's own account, which are made under /session, so that admins cannot lock themselves out. @throws Refused */
function refuseOwn({ by }: Office, name: string): void {
  if (by.authority !== undefined && by.author === name) throw new Refused("own_account", "");
}

function memberData({ name, role, createdAt, lastLogInAt, hasTotp, logsInWith }: StaffMember) {
  const times = { createdAt: isoTime(createdAt), lastLogInAt: isoTimeOrNull(lastLogInAt) };
  return { name, role: role ?? null, ...times, hasTotp, logsInWith };
}

function keyData({ name, role, createdAt, lastUsedAt }: StaffKey) {
  return { name, role, createdAt: isoTime(createdAt), lastUsedAt: isoTimeOrNull(lastUsedAt) };
}

/** Only the key goes to stdout, so that a shell can use it. */
function keyLines({ key, name, role }: { readonly key: string; readonly name: string; readonly role: string }): Shown {
  const note = `This is the only time that the key ${printable(name)} is shown. It has the role ${role}.\n`;
  return { out: `${key}\n`, note };
}

function removed(): Shown {
  return { out: "removed\n" };
}

export const operations: readonly Operation[] = [
  listStaff,
  listRoles,
  addStaff,
  changeStaff,
  removeStaff,
  listStaffKeys,
  addStaffKey,
  removeStaffKey,
];
