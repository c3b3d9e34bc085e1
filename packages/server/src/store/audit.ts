import type { Kysely } from "kysely";
import { type Attribution, type AuditedChange, NO_ENTRY, nextEntry } from "../domain/audit.ts";
import type { Authority } from "../domain/staff.ts";
import type { Engine } from "./engine.ts";
import { RightsEnded } from "./errors.ts";
import { auditRow } from "./rows.ts";
import type { Tables } from "./tables.ts";

/**
 * Locks the audit trail, and requires the rights of who changes. The lock orders this change with the removal of its
 * rights; rights are read after the lock.
 * @throws RightsEnded
 */
export async function lockTrail(engine: Engine, tx: Kysely<Tables>, { authority }: Attribution): Promise<void> {
  await engine.lockAuditTrail(tx);
  if (authority !== undefined && !(await hasRights(tx, authority))) throw new RightsEnded();
}

/**
 * Appends an entry, after the last one, to the chain. To be called last in the transaction that makes the change.
 * @throws RightsEnded
 */
export async function appendAudit(
  engine: Engine,
  tx: Kysely<Tables>,
  change: AuditedChange,
  by: Attribution,
): Promise<void> {
  await lockTrail(engine, tx, by);
  const last = await tx
    .selectFrom("auditEntry")
    .select(["seq", "hash"])
    .orderBy("seq", "desc")
    .limit(1)
    .executeTakeFirst();
  const entry = nextEntry(last ?? NO_ENTRY, change, by);
  await tx.insertInto("auditEntry").values(auditRow(entry)).execute();
}

/** Whether the session, the account with its role, or the key still exists. */
export async function hasRights(db: Kysely<Tables>, authority: Authority): Promise<boolean> {
  return (await rightsQuery(db, authority).executeTakeFirst()) !== undefined;
}

/** Finds a row if the rights still exist. */
export function rightsQuery(db: Kysely<Tables>, authority: Authority) {
  if ("keyHash" in authority) return db.selectFrom("staffKey").select("role").where("hash", "=", authority.keyHash);
  const { staffId, role, sessionId } = authority;
  const account = db.selectFrom("staff").select("role").where("id", "=", staffId).where("role", "=", role);
  if (sessionId === undefined) return account;
  const sessions = db.selectFrom("staffSession").select("staffId").where("id", "=", sessionId);
  return account.where("id", "in", sessions);
}
