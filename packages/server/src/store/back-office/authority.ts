import type { Kysely } from "kysely";
import type { Authority } from "../../domain/staff.ts";
import type { Tables } from "../tables.ts";

/** Whether the session, the account with its role, or the key still exists. */
export async function hasRights(db: Kysely<Tables>, authority: Authority): Promise<boolean> {
  return (await rightsQuery(db, authority).executeTakeFirst()) !== undefined;
}

/** Finds a row if the rights still exist. */
export function rightsQuery(db: Kysely<Tables>, authority: Authority) {
  if ("keyHash" in authority) return db.selectFrom("staff_key").select("role").where("hash", "=", authority.keyHash);
  const { staffId, role, sessionId } = authority;
  const account = db.selectFrom("staff").select("role").where("id", "=", staffId).where("role", "=", role);
  if (sessionId === undefined) return account;
  const sessions = db.selectFrom("staff_session").select("staff_id").where("id", "=", sessionId);
  return account.where("id", "in", sessions);
}
