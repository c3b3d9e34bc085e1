import { Refused } from "../domain/refused.ts";
import { PERMISSIONS, type Permission } from "../domain/staff.ts";
import { rightsQuery } from "../store/audit.ts";
import type { Decider } from "./decide.ts";

/* Permissions that depend on what is asked. The command line has all, because its user controls the database. */

export async function hasPermission(
  { store: { engine }, by: { authority } }: Pick<Decider, "store" | "by">,
  permission: Permission,
): Promise<boolean> {
  if (authority === undefined) return true;
  const rights = await rightsQuery(engine.db, authority).executeTakeFirst();
  return rights !== undefined && PERMISSIONS[rights.role].includes(permission);
}

/** @throws Refused */
export async function requirePermission(office: Pick<Decider, "store" | "by">, permission: Permission): Promise<void> {
  if (!(await hasPermission(office, permission))) throw new Refused("forbidden", "");
}
