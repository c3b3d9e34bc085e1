import { type RawBuilder, sql } from "kysely";
import type { AuditAction, AuditEntry } from "../../domain/audit.ts";
import type { Instant } from "../../domain/wall-time.ts";
import { toAuditEntry } from "../../store/audit.ts";
import type { Db } from "../../store/engine.ts";

/** Conditions for entries. All must hold; an undefined field allows any value. */
export interface AuditFilter {
  /** The number of the newest entry allowed. */
  readonly upTo?: number | undefined;
  readonly author?: string | undefined;
  readonly action?: string | undefined;
  readonly subject?: string | undefined;
  readonly reason?: string | undefined;
  /** The customer of the entry, or one of its customers. */
  readonly cuid?: string | undefined;
  /** Made at this time or later. */
  readonly from?: Instant | undefined;
  /** Made before this time. */
  readonly until?: Instant | undefined;
}

export interface ListedAuditEntry extends AuditEntry {
  /** The number of entries that this one represents, including itself. */
  readonly parts: number;
}

/** Reads entries after `after`, oldest first. */
export async function readEntries(db: Db, after: number, limit: number): Promise<AuditEntry[]> {
  const query = db.selectFrom("auditEntry").selectAll().where("seq", ">", after).orderBy("seq").limit(limit);
  return (await query.execute()).map(toAuditEntry);
}

/**
 * Lists entries, newest first. Without a reason or a cuid in the filter, the last entry of a customers import or bulk change
 * represents all of its entries.
 */
export async function listEntries(db: Db, filter: AuditFilter, limit: number): Promise<ListedAuditEntry[]> {
  const query = filtered(db, filter).orderBy("seq", "desc").limit(limit);
  const entries = (await query.execute()).map(toAuditEntry);
  const parts = standsForAll(filter) ? await countParts(db, entries) : undefined;
  return entries.map((entry) => {
    return { ...entry, parts: (isInPortions(entry.action) && parts?.get(entry.reason ?? "")) || 1 };
  });
}

/** Actions with an entry for each portion. The entries of one import or bulk change have the same reason. */
const IN_PORTIONS: readonly AuditAction[] = [
  "customers.import",
  "bulk.goodwill",
  "bulk.block",
  "bulk.unblock",
  "bulk.reverse_goodwill",
];

/** Whether the last entry of an import or bulk change represents all of its entries. */
function standsForAll({ reason, cuid }: AuditFilter): boolean {
  return reason === undefined && cuid === undefined;
}

/** Counts the entries in portions by their reason. */
async function countParts(db: Db, entries: readonly AuditEntry[]): Promise<ReadonlyMap<string, number>> {
  const reasons = entries.flatMap(({ action, reason }) =>
    isInPortions(action) && reason !== undefined ? [reason] : [],
  );
  if (reasons.length === 0) return new Map();
  const rows = await db
    .selectFrom("auditEntry")
    .select((eb) => ["reason", eb.fn.countAll<number>().as("count")])
    .where("reason", "in", reasons)
    .where("action", "in", IN_PORTIONS)
    .groupBy("reason")
    .execute();
  return new Map(rows.map(({ reason, count }) => [reason ?? "", Number(count)]));
}

function filtered(db: Db, filter: AuditFilter) {
  const { upTo, author, action, subject, reason, cuid, from, until } = filter;
  let query = db.selectFrom("auditEntry").selectAll();
  if (standsForAll(filter))
    query = query.where((eb) => eb.or([eb("action", "not in", IN_PORTIONS), eb.not(isFollowed())]));
  if (upTo !== undefined) query = query.where("seq", "<=", upTo);
  if (author !== undefined) query = query.where("author", "=", author);
  if (action !== undefined) query = query.where("action", "=", action);
  if (subject !== undefined) query = query.where("subject", "=", subject);
  if (reason !== undefined) query = query.where("reason", "=", reason);
  if (from !== undefined) query = query.where("at", ">=", from);
  if (until !== undefined) query = query.where("at", "<", until);
  if (cuid === undefined) return query;
  // An entry of many customers has the cuid as a key of `after`; an entry of a connection has it between blanks, a note at the end.
  const its = sql<string>`subject || ' '`;
  return query.where((eb) => eb.or([holds(its, ` ${cuid} `), holds(sql`after`, `${JSON.stringify(cuid)}:`)]));
}

function isInPortions(action: string): boolean {
  return IN_PORTIONS.some((known) => known === action);
}

/** Whether the same import or bulk change has a later entry. */
function isFollowed() {
  return sql<boolean>`EXISTS (SELECT 1 FROM audit_entry AS later
    WHERE later.reason = audit_entry.reason AND later.seq > audit_entry.seq AND later.action = audit_entry.action)`;
}

/** Whether a text contains another. `replace` respects the case in every database; LIKE does not. */
function holds(text: RawBuilder<string | null>, part: string) {
  return sql<boolean>`replace(${text}, ${part}, '') <> ${text}`;
}
