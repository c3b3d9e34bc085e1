import { Type } from "typebox";
import { STAFF_NAME } from "../../domain/names.ts";
import { ROLES } from "../../domain/staff.ts";
import { InstantSchema, oneOf, orNull, RoleSchema } from "../common.ts";

export const MemberName = Type.String({ description: "The person's name." });
export const NewMemberName = Type.String({
  pattern: STAFF_NAME.source,
  "x-problem":
    'must have 1 to 64 characters, no blank at either end, no blank but the space, and not begin with "key "',
  description: "A name of up to 64 characters.",
});
export const KeyName = Type.String({ description: "The key's name." });

export const RoleInput = oneOf(ROLES, "What it may do.");

export const StaffMemberSchema = Type.Object(
  { name: Type.String(), role: RoleSchema, createdAt: InstantSchema, hasTotp: Type.Boolean() },
  { title: "StaffMember" },
);

const KEY = { name: Type.String(), role: RoleSchema, createdAt: InstantSchema, lastUsedAt: orNull(InstantSchema) };
export const StaffKeySchema = Type.Object(KEY, { title: "StaffKey" });
export const AddedStaffKeySchema = Type.Object(
  { ...KEY, key: Type.String({ description: "Shown this once." }) },
  { title: "AddedStaffKey" },
);
