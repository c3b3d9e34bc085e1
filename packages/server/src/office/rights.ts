import { Refused } from "../domain/refused.ts";
import { PERMISSIONS, type Permission } from "../domain/staff.ts";
import type { Db } from "../store/engine.ts";
import { RightsEnded } from "../store/errors.ts";
import { roleNow } from "../store/rights.ts";
import type { Decider } from "./decide.ts";

/* Permissions that depend on what is asked. The command line has all, because its user controls the database. */

/** The permissions that the author has now. @param db a transaction, if there is one. */
export async function permissionsNow(
  { by: { authority } }: Pick<Decider, "by">,
  db: Db,
): Promise<readonly Permission[]> {
  if (authority === undefined) return PERMISSIONS.admin;
  const role = await roleNow(db, authority);
  return role === undefined ? [] : PERMISSIONS[role];
}

/** @throws RightsEnded or Refused */
export async function requirePermission(office: Pick<Decider, "store" | "by">, permission: Permission): Promise<void> {
  const permissions = await permissionsNow(office, office.store.engine.db);
  if (permissions.length === 0) throw new RightsEnded();
  if (!permissions.includes(permission)) throw new Refused("forbidden", "");
}
