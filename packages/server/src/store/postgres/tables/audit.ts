import {
  type Attribution,
  type AuditCheckpoint,
  type AuditEntry,
  type AuditedChange,
  NO_ENTRY,
  nextEntry,
} from "../../../domain/audit.ts";
import type { AuditFilter, AuditTrail } from "../../audit-trail.ts";
import {
  AUDIT_COLUMNS,
  AUDIT_FILTER_VALUES,
  type AuditRow,
  auditColumns,
  auditCondition,
  auditFilterValues,
  toAuditEntry,
} from "../../common/audit-rows.ts";
import type { Database } from "../session/database.ts";
import { LOCK_AUDIT } from "../session/locks.ts";
import type { Prepared, Query, Session } from "../session/session.ts";
import { insertRows } from "./columns.ts";

const LAST: Prepared = { name: "audit_last", text: "SELECT seq, hash FROM audit_entry ORDER BY seq DESC LIMIT 1" };
const READ_ON: Prepared = {
  name: "audit_read_on",
  text: `SELECT ${AUDIT_COLUMNS} FROM audit_entry WHERE seq > $1 ORDER BY seq LIMIT $2`,
};
const LIST: Prepared = {
  name: "audit_list",
  text: `SELECT ${AUDIT_COLUMNS} FROM audit_entry WHERE ${auditCondition({ value: (index, type) => `$${index}::${type}`, position: "strpos" })}
    ORDER BY seq DESC LIMIT $${AUDIT_FILTER_VALUES + 1}`,
};
const APPEND = insertRows("audit_entry", [
  ["seq", "integer"],
  ["at", "bigint"],
  ["author", "text"],
  ["action", "text"],
  ["subject", "text"],
  ["hash", "text"],
  ["reason", "text"],
  ["before", "text"],
  ["after", "text"],
]);

/**
 * What appends entries to the audit trail, to be sent in the transaction that makes the changes. From here to its
 * commit nobody else can append, so it is the last that the transaction asks for.
 */
export async function auditing(
  session: Session,
  changes: readonly AuditedChange[],
  by: Attribution,
): Promise<readonly Query[]> {
  if (changes.length === 0) return [];
  const [, [last]] = (await session.runAll([LOCK_AUDIT, [LAST]])) as [unknown[], AuditCheckpoint[]];
  let head = last ?? NO_ENTRY;
  const entries = changes.map((change) => {
    const entry = nextEntry(head, change, by);
    head = entry;
    return entry;
  });
  return [APPEND(entries.map(auditColumns))];
}

/** The SQL by which the audit trail is read. */
export class AuditTable implements AuditTrail {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async readOn(after: number, limit: number): Promise<AuditEntry[]> {
    return (await this.#database.ask<AuditRow>(READ_ON, [after, limit])).map(toAuditEntry);
  }

  async list(filter: AuditFilter, limit: number): Promise<AuditEntry[]> {
    return (await this.#database.ask<AuditRow>(LIST, [...auditFilterValues(filter), limit])).map(toAuditEntry);
  }
}
