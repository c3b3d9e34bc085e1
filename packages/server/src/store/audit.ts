import type { Kysely } from "kysely";
import {
  type Attribution,
  type AuditCheckpoint,
  type AuditEntry,
  type AuditedChange,
  NO_ENTRY,
  nextEntry,
} from "../domain/audit.ts";
import { portionsOf } from "../domain/portions.ts";
import type { Db, Engine } from "./engine.ts";
import { RightsEnded } from "./errors.ts";
import { hasRights } from "./rights.ts";
import type { AuditEntryRow, Tables } from "./tables.ts";

/** Entries in one statement, whose parameters are limited. */
const ROWS_AT_ONCE = 500;

/**
 * Locks the audit trail, then checks the author's rights. The lock puts this change and a removal of these rights in order.
 * @throws RightsEnded
 */
async function lockTrail(engine: Engine, tx: Kysely<Tables>, { authority }: Attribution): Promise<void> {
  await engine.lockAuditTrail(tx);
  if (authority !== undefined && !(await hasRights(tx, authority))) throw new RightsEnded();
}

/**
 * Appends entries to the audit trail. Must be called last in the transaction of the change, because it locks the trail.
 * @throws RightsEnded
 */
export async function appendAudits(engine: Engine, tx: Db, changes: readonly AuditedChange[], by: Attribution) {
  await lockTrail(engine, tx, by);
  const trail = tx.selectFrom("auditEntry").select(["seq", "hash"]).orderBy("seq", "desc").limit(1);
  let last: AuditCheckpoint = (await trail.executeTakeFirst()) ?? NO_ENTRY;
  const rows = changes.map((change) => {
    const entry = nextEntry(last, change, by);
    last = entry;
    return auditRow(entry);
  });
  for (const some of portionsOf(rows, ROWS_AT_ONCE)) await tx.insertInto("auditEntry").values(some).execute();
}

export function auditRow({ byStaff, reason, before, after, ...entry }: AuditEntry): AuditEntryRow {
  return { ...entry, byStaff: byStaff ? 1 : 0, reason: reason ?? null, before: before ?? null, after: after ?? null };
}

export function toAuditEntry({ byStaff, reason, before, after, ...row }: AuditEntryRow): AuditEntry {
  return {
    ...row,
    byStaff: byStaff === 1,
    reason: reason ?? undefined,
    before: before ?? undefined,
    after: after ?? undefined,
  };
}
