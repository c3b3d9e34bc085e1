import { Type } from "typebox";
import { ROLES, type Role } from "../../domain/authority.ts";
import { STAFF_NAME } from "../../domain/names.ts";
import { Refused } from "../../domain/refused.ts";
import {
  allowedTo,
  isInUse,
  LOG_IN_WAYS,
  type StaffKey,
  type StaffMember,
  staffAdded,
  staffKeyRemoved,
  staffRemoved,
} from "../../domain/staff.ts";
import { type Instant, isoTime, isoTimeOrNull } from "../../domain/wall-time.ts";
import { EnvironmentSchema, InstantSchema, oneOf, onePage, orNull, pageOf, RoleSchema } from "../common.ts";
import { decide } from "../decide.ts";
import type { Office } from "../office.ts";
import { type Operation, operation, type Shown } from "../operation.ts";
import { PartnerName } from "../partners/presenter.ts";
import { refusePassword } from "./passwords.ts";
import { endOfSeller, hasSold, readSellers, type SellsFor, sellerToken } from "./sellers.ts";
import * as sql from "./sql.ts";
import { type AccountChanges, changeAccount, memberNamed, NO_TOTP, refuseLastAdmin } from "./sql.ts";

export const MemberName = Type.String({ description: "The person's name." });
export const NewMemberName = Type.String({
  pattern: STAFF_NAME.source,
  "x-problem":
    'must have 1 to 64 characters, no blank at either end, no blank but the space, and not begin with "key "',
  description: "A name of up to 64 characters.",
});
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
    sellerOf: orNull(
      Type.String({ description: "The partner that a seller sells for; null for the provider's staff." }),
    ),
    environment: orNull({ ...EnvironmentSchema, description: "Environment of a seller." }),
  },
  { title: "StaffMember" },
);

const RoleTextSchema = Type.Object({ role: oneOf(ROLES), may: Type.String() }, { title: "RoleText" });

/* The accounts of people. */

const AS = { tag: "Staff", permission: "administer" } as const;
const CHANGES = { ...AS, asksPassword: true } as const;
const BY_NAME = ["name"] as const;
export const MEMBER_COLUMNS = ["name", "role", "sellerOf", "createdAt", "lastLogInAt", "hasTotp", "logsInWith"];

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
  async run({ store: { engine } }) {
    const staff = await sql.readStaff(engine.db);
    const sellers = await readSellers(engine.db, staff);
    return onePage(staff.map((member) => memberData(member, sellers.get(member.id))));
  },
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
  summary: "Add a person, who must change the password at the first log-in. Give a role, or the partner of a seller",
  refuses: ["conflict"],
  input: Type.Object({
    name: NewMemberName,
    role: Type.Optional(RoleInput),
    sellerOf: Type.Optional({ ...PartnerName, description: "The partner that the person sells for, at the counter." }),
    environment: Type.Optional({ ...EnvironmentSchema, description: "Environment of a seller (default: production)." }),
    password: Type.String(),
  }),
  answer: StaffMemberSchema,
  async run(office, { name, role: given, sellerOf, environment = "production", password }) {
    if ((given === undefined) === (sellerOf === undefined))
      throw Refused.field("role", "must be given, or sellerOf for a seller: one of them");
    const hashed = await hashNew(office, password, name);
    return decide(office, "reference", async (tx) => {
      const staff = await sql.readStaff(tx);
      if (staff.some((each) => each.name === name))
        throw new Refused("conflict", `there is an account named ${name} already`);
      if (sellerOf !== undefined && (await hasSold(tx, name)))
        throw new Refused("conflict", `a former seller named ${name} has sales or an open shift: choose another name`);
      const { at } = office.by;
      const isNew = {
        lastLogInAt: undefined,
        hasTotp: false,
        mustChangePassword: true,
        logsInWith: "password",
      } as const;
      const sellsFor = sellerOf === undefined ? undefined : { partner: sellerOf, environment };
      const token = sellsFor && (await sellerToken(office, tx, sellsFor));
      const role: Role = given ?? "seller";
      const member = { id: sql.nextId(staff, at), name, role, createdAt: at, tokenHash: token?.tokenHash, ...isNew };
      const write = async () => {
        await token?.change.write();
        await sql.insertMember(tx, member, { password: hashed, oidcSubject: null });
      };
      const audit = [...(token?.change.audit ?? []), staffAdded(member, sellerOf)];
      return { answer: memberData(member, sellsFor), change: { write, audit } };
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
    const member = await changeAccount(office, name, changes);
    return memberData(member, (await readSellers(office.store.engine.db, [member])).get(member.id));
  },
});

export const removeStaff = operation({
  ...CHANGES,
  http: "DELETE /staff/:name",
  summary: "Remove a person: their sessions and the keys that they made end",
  refuses: ["conflict", "own_account"],
  input: Type.Object({
    name: MemberName,
    endKeys: Type.Optional(
      Type.Boolean({ description: "Also end keys of the person that programs used within 7 days." }),
    ),
  }),
  cli: [
    {
      words: "staff remove",
      arguments: BY_NAME,
      show: removed,
      examples: ["topupd staff remove maya", "topupd staff remove maya --end-keys"],
    },
  ],
  async run(office, { name, endKeys = false }) {
    refuseOwn(office, name);
    return decide(office, "reference", async (tx) => {
      const staff = await sql.readStaff(tx);
      const member = memberNamed(staff, name);
      refuseLastAdmin(staff, name);
      const keys = (await sql.readKeys(tx)).filter(({ madeBy }) => madeBy === name);
      if (!endKeys) refuseKeysInUse(keys, name, office.by.at);
      const end = await endOfSeller(tx, member, office.by.at);
      const write = async () => {
        for (const key of keys) await sql.deleteKey(tx, key);
        await sql.deleteMember(tx, member);
        await end?.write(tx);
      };
      const audit = [...(end?.audit ?? []), ...keys.map(staffKeyRemoved), staffRemoved(member)];
      return { answer: undefined, change: { write, audit } };
    });
  },
});

/** A program, such as billing, must not stop by surprise. @throws Refused */
function refuseKeysInUse(keys: readonly StaffKey[], name: string, now: Instant): void {
  const inUse = keys.filter((key) => isInUse(key, now)).map((key) => key.name);
  if (inUse.length === 0) return;
  const which = `programs used keys of ${name} within the last 7 days: ${inUse.join(", ")}`;
  throw new Refused("conflict", `${which}. Give these programs other keys first, or end the keys with the account`);
}

/** Hashes a new password. @throws Refused if it is easily guessed. */
export async function hashNew({ accounts }: Pick<Office, "accounts">, password: string, name: string): Promise<string> {
  const refused = refusePassword(password, name);
  if (refused !== undefined) throw Refused.field("password", refused.problem);
  return accounts.hashPassword(password);
}

/** Refuses changes of one's own account, which are made under /session, so that admins cannot lock themselves out. @throws Refused */
function refuseOwn({ by }: Office, name: string): void {
  if (by.authority !== undefined && by.author === name) throw new Refused("own_account", "");
}

function memberData({ name, role, createdAt, lastLogInAt, hasTotp, logsInWith }: StaffMember, of?: SellsFor) {
  const times = { createdAt: isoTime(createdAt), lastLogInAt: isoTimeOrNull(lastLogInAt) };
  const sells = { sellerOf: of?.partner ?? null, environment: of?.environment ?? null };
  return { name, role: role ?? null, ...times, hasTotp, logsInWith, ...sells };
}

export function removed(): Shown {
  return { out: "removed\n" };
}

export const operations: readonly Operation[] = [listStaff, listRoles, addStaff, changeStaff, removeStaff];
