import type { Authority, Role } from "../domain/authority.ts";
import { type StaffKey, sharedRole } from "../domain/staff.ts";
import type { Db } from "./engine.ts";

/* The rights that people and API keys have now. They are read at each request, and again in the transaction of a change. */

/**
 * The role of an author.
 * @returns undefined if the session, the account or the key is gone, or if its role changed since the request was accepted.
 */
export async function roleNow(db: Db, authority: Authority): Promise<Role | undefined> {
  const role = "keyHash" in authority ? await roleOfKey(db, authority.keyHash) : await roleOfPerson(db, authority);
  return role === authority.role ? role : undefined;
}

export async function hasRights(db: Db, authority: Authority): Promise<boolean> {
  return (await roleNow(db, authority)) !== undefined;
}

async function roleOfKey(db: Db, hash: Uint8Array): Promise<Role | undefined> {
  const key = await keysIn(db).where("k.hash", "=", hash).executeTakeFirst();
  return key && toKey(key).role;
}

async function roleOfPerson(
  db: Db,
  { staffId, sessionId }: Extract<Authority, { staffId: number }>,
): Promise<Role | undefined> {
  const account = db.selectFrom("staff").select("role").where("id", "=", staffId);
  const sessions = db
    .selectFrom("staffSession")
    .select("staffId")
    .where("id", "=", sessionId ?? "");
  const found = sessionId === undefined ? account : account.where("id", "in", sessions);
  return (await found.executeTakeFirst())?.role ?? undefined;
}

/** API keys with the people who made them. */
export function keysIn(db: Db) {
  return db
    .selectFrom("staffKey as k")
    .leftJoin("staff as maker", "maker.id", "k.makerId")
    .select(["k.name", "k.role", "k.makerId", "k.createdAt", "k.lastUsedAt", "maker.name as madeBy"])
    .select("maker.role as makerRole");
}

type FoundKey = Awaited<ReturnType<ReturnType<typeof keysIn>["execute"]>>[number];

export function toKey({ name, role, makerId, makerRole, madeBy, createdAt, lastUsedAt }: FoundKey): StaffKey {
  const times = { createdAt, lastUsedAt: lastUsedAt ?? undefined };
  if (makerId === null) return { name, role, madeBy: undefined, ...times };
  const allowed = makerRole === null ? undefined : sharedRole(role, makerRole);
  return { name, role: allowed, madeBy: madeBy ?? undefined, ...times };
}
