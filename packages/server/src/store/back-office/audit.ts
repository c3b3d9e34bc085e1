import { type Kysely, sql } from "kysely";
import {
  type Attribution,
  type AuditAction,
  type AuditEntry,
  type AuditedChange,
  NO_ENTRY,
  nextEntry,
} from "../../domain/audit.ts";
import type { Engine } from "../engine.ts";
import { RightsEnded } from "../errors.ts";
import { auditRow, toAuditEntry } from "../rows.ts";
import type { AuditFilter, AuditTrail } from "../search.ts";
import type { Tables } from "../tables.ts";
import { hasRights } from "./authority.ts";

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
    .selectFrom("audit_entry")
    .select(["seq", "hash"])
    .orderBy("seq", "desc")
    .limit(1)
    .executeTakeFirst();
  const entry = nextEntry(last ?? NO_ENTRY, change, by);
  await tx.insertInto("audit_entry").values(auditRow(entry)).execute();
}

export function auditTrailOf({ db }: Engine): AuditTrail {
  return {
    async readOn(after, limit) {
      const query = db.selectFrom("audit_entry").selectAll().where("seq", ">", after).orderBy("seq").limit(limit);
      return (await query.execute()).map(toAuditEntry);
    },
    async list(filter, limit) {
      const query = filtered(db, filter).orderBy("seq", "desc").limit(limit);
      const entries = (await query.execute()).map(toAuditEntry);
      const parts = standsForAll(filter) ? await countParts(db, entries) : undefined;
      return entries.map((entry) => {
        return { ...entry, parts: (entry.action === IMPORT && parts?.get(entry.reason ?? "")) || 1 };
      });
    },
  };
}

const IMPORT: AuditAction = "customers.import";

/** Whether the last entry of an import stands for all of it. */
function standsForAll({ reason, cuid }: AuditFilter): boolean {
  return reason === undefined && cuid === undefined;
}

/** By the reason, which the entries of an import share. */
async function countParts(db: Kysely<Tables>, entries: readonly AuditEntry[]): Promise<ReadonlyMap<string, number>> {
  const reasons = entries.flatMap(({ action, reason }) => (action === IMPORT && reason !== undefined ? [reason] : []));
  if (reasons.length === 0) return new Map();
  const rows = await db
    .selectFrom("audit_entry")
    .select((eb) => ["reason", eb.fn.countAll<number>().as("count")])
    .where("reason", "in", reasons)
    .where("action", "=", IMPORT)
    .groupBy("reason")
    .execute();
  return new Map(rows.map(({ reason, count }) => [reason ?? "", Number(count)]));
}

function filtered(db: Kysely<Tables>, filter: AuditFilter) {
  const { upTo, author, action, subject, reason, cuid, from, until } = filter;
  let query = db.selectFrom("audit_entry").selectAll();
  if (standsForAll(filter)) query = query.where((eb) => eb.or([eb("action", "!=", IMPORT), eb.not(isFollowed())]));
  if (upTo !== undefined) query = query.where("seq", "<=", upTo);
  if (author !== undefined) query = query.where("author", "=", author);
  if (action !== undefined) query = query.where("action", "=", action);
  if (subject !== undefined) query = query.where("subject", "=", subject);
  if (reason !== undefined) query = query.where("reason", "=", reason);
  if (from !== undefined) query = query.where("at", ">=", from);
  if (until !== undefined) query = query.where("at", "<", until);
  if (cuid === undefined) return query;
  // An entry about many has what each is now under the cuid; one about a connection names it between blanks.
  return query.where((eb) => eb.or([holds("subject", ` ${cuid} `), holds("after", `${JSON.stringify(cuid)}:`)]));
}

/** Whether a later entry is of the same import. */
function isFollowed() {
  return sql<boolean>`EXISTS (SELECT 1 FROM audit_entry AS later
    WHERE later.reason = audit_entry.reason AND later.seq > audit_entry.seq AND later.action = ${IMPORT})`;
}

/** Whether a text has another in it. Of all that could ask so, this alone minds the case in every database. */
function holds(column: "subject" | "after", part: string) {
  return sql<boolean>`replace(${sql.ref(column)}, ${part}, '') <> ${sql.ref(column)}`;
}
