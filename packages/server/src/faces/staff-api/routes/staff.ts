import { Type } from "typebox";
import type { StaffKey, StaffMember } from "../../../domain/staff.ts";
import { isoTime, isoTimeOrNull } from "../../../domain/wall-time.ts";
import { InstantSchema, onePage, orNull, pageOf, RoleSchema } from "../../../office/common.ts";
import { Refused } from "../../../office/refused.ts";
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
import type { Identity } from "../ports.ts";
import { Problem } from "../problems.ts";
import { route } from "../route.ts";

/* The accounts of people, and the keys of systems. */

const TAG = "Staff";

export const StaffMemberSchema = Type.Object(
  { name: Type.String(), role: RoleSchema, createdAt: InstantSchema, hasTotp: Type.Boolean() },
  { title: "StaffMember" },
);

const StaffKeyFields = {
  ...{ name: Type.String(), role: RoleSchema, createdAt: InstantSchema, lastUsedAt: orNull(InstantSchema) },
};
export const StaffKeySchema = Type.Object(StaffKeyFields, { title: "StaffKey" });
export const AddedStaffKeySchema = Type.Object(
  { ...StaffKeyFields, key: Type.String({ description: "Shown this once." }) },
  { title: "AddedStaffKey" },
);

const Name = Type.String({ minLength: 1, maxLength: 64 });
const NAMED = Type.Object({ name: Type.String() });
const BAD_KEY_NAME = "must have 1 to 64 characters, no blank at either end, and no blank but the space";
const BAD_NAME = Refused.field("name", `${BAD_KEY_NAME}, and not begin with “key ”`);

export const staffRoutes = [
  route({
    ...{ method: "GET", path: "/staff", tag: TAG, permission: "administer" },
    summary: "List people's accounts",
    answer: pageOf(StaffMemberSchema),
    handle: async (ports) => onePage((await listStaff(ports)).map(memberData)),
  }),
  route({
    ...{ method: "POST", path: "/staff", tag: TAG, permission: "administer", status: 201, asksPassword: true },
    summary: "Add a person",
    body: Type.Object({ name: Name, role: RoleSchema, password: Type.String() }),
    answer: StaffMemberSchema,
    problems: ["conflict"],
    async handle(ports, { identity, body }) {
      const added = await addStaff(ports, identity, body);
      if (added.kind === "bad_name") throw BAD_NAME;
      if (added.kind === "bad_password") throw Refused.field("password", added.problem);
      if (added.kind === "name_taken") throw new Problem("conflict", "There is an account of this name already.");
      return memberData(added.member);
    },
  }),
  route({
    ...{ method: "PATCH", path: "/staff/:name", tag: TAG, permission: "administer", asksPassword: true },
    summary: "Change another person's role or password, or switch their one-time codes off; their log-ins end",
    params: NAMED,
    body: Type.Object({
      role: Type.Optional(RoleSchema),
      password: Type.Optional(Type.String()),
      totp: Type.Optional(Type.Literal(false)),
    }),
    answer: StaffMemberSchema,
    problems: ["conflict"],
    async handle(ports, { identity, params: { name }, body: { role, password, totp } }) {
      refuseOwn(identity, name);
      // The password first: it alone may be refused, and then nothing is changed.
      const changes = [
        ...(password === undefined ? [] : [() => setPassword(ports, identity, { name, password })]),
        ...(role === undefined ? [] : [() => changeRole(ports, identity, { name, role })]),
        ...(totp === undefined ? [] : [() => switchTotpOff(ports, identity, { name })]),
      ];
      if (changes.length === 0) throw new Problem("invalid", "Say what to change.");
      let member: StaffMember | undefined;
      for (const change of changes) {
        const done = await change();
        if (done.kind === "bad_password") throw Refused.field("password", done.problem);
        member = changed(done);
      }
      return memberData(member as StaffMember);
    },
  }),
  route({
    ...{ method: "DELETE", path: "/staff/:name", tag: TAG, permission: "administer", asksPassword: true },
    summary: "Remove a person",
    params: NAMED,
    problems: ["conflict"],
    async handle(ports, { identity, params }) {
      refuseOwn(identity, params.name);
      changed(await removeStaff(ports, identity, params));
    },
  }),
  route({
    ...{ method: "GET", path: "/staff-keys", tag: TAG, permission: "administer" },
    summary: "List the keys of systems",
    answer: pageOf(StaffKeySchema),
    handle: async (ports) => onePage((await listStaffKeys(ports)).map(keyData)),
  }),
  route({
    ...{ method: "POST", path: "/staff-keys", tag: TAG, permission: "administer", asksPassword: true },
    ...{ status: 201, isSecret: true },
    summary: "Make a key for a system",
    body: Type.Object({ name: Name, role: RoleSchema }),
    answer: AddedStaffKeySchema,
    problems: ["conflict"],
    async handle(ports, { identity, body }) {
      const added = await addStaffKey(ports, identity, body);
      if (added.kind === "bad_name") throw Refused.field("name", BAD_KEY_NAME);
      if (added.kind === "name_taken") throw new Problem("conflict", "There is a key of this name already.");
      return { ...keyData(added.record), key: added.key };
    },
  }),
  route({
    ...{ method: "DELETE", path: "/staff-keys/:name", tag: TAG, permission: "administer", asksPassword: true },
    summary: "Remove a key, which holds nowhere from then on",
    params: NAMED,
    async handle(ports, { identity, params }) {
      if ((await removeStaffKey(ports, identity, params)) === undefined) throw new Problem("not_found");
    },
  }),
];

/** A person's own account is changed under /session, and nobody locks themself out by mistake. */
function refuseOwn({ name }: Identity, other: string): void {
  if (name === other) throw new Problem("own_account");
}

function changed(done: StaffChanged): StaffMember {
  if (done.kind === "not_found") throw new Problem("not_found");
  if (done.kind === "last_admin") throw new Problem("conflict", "Nobody would be left to administer.");
  return done.member;
}

function memberData({ name, role, createdAt, hasTotp }: StaffMember) {
  return { name, role, createdAt: isoTime(createdAt), hasTotp };
}

function keyData({ name, role, createdAt, lastUsedAt }: StaffKey) {
  return { name, role, createdAt: isoTime(createdAt), lastUsedAt: isoTimeOrNull(lastUsedAt) };
}
