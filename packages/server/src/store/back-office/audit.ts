import { type Kysely, sql } from "kysely";
import { type Attribution, type AuditedChange, NO_ENTRY, nextEntry } from "../../domain/audit.ts";
import { RightsEnded } from "../errors.ts";
import { auditRow, toAuditEntry } from "../rows.ts";
import type { AuditFilter, AuditTrail } from "../search.ts";
import type { Tables } from "../tables.ts";
import { hasRights } from "./authority.ts";
import type { Engine } from "./engine.ts";

/**
 * Appends an entry, after the last one, to the chain. To be called last in the transaction that makes the change. Whoever
 * ends an account, a role or a key appends an entry too: under the lock, either they came first, or this change did.
 * @throws RightsEnded
 */
export async function appendAudit(
  engine: Engine,
  tx: Kysely<Tables>,
  change: AuditedChange,
  by: Attribution,
): Promise<void> {
  await engine.lockAuditTrail(tx);
  if (by.authority !== undefined && !(await hasRights(tx, by.authority))) throw new RightsEnded();
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
      return (await query.execute()).map(toAuditEntry);
    },
  };
}

function filtered(db: Kysely<Tables>, { upTo, author, action, subject, cuid, from, until }: AuditFilter) {
  let query = db.selectFrom("audit_entry").selectAll();
  if (upTo !== undefined) query = query.where("seq", "<=", upTo);
  if (author !== undefined) query = query.where("author", "=", author);
  if (action !== undefined) query = query.where("action", "=", action);
  if (subject !== undefined) query = query.where("subject", "=", subject);
  if (from !== undefined) query = query.where("at", ">=", from);
  if (until !== undefined) query = query.where("at", "<", until);
  if (cuid === undefined) return query;
  // An entry about many has what each is now under the cuid; one about a connection names it between blanks.
  return query.where((eb) => eb.or([holds("subject", ` ${cuid} `), holds("after", `${JSON.stringify(cuid)}:`)]));
}

/** Whether a text has another in it. Of all that could ask so, this alone minds the case in every database. */
function holds(column: "subject" | "after", part: string) {
  return sql<boolean>`replace(${sql.ref(column)}, ${part}, '') <> ${sql.ref(column)}`;
}
