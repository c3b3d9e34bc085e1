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
import type { Database } from "../database.ts";

const LIST = `SELECT ${AUDIT_COLUMNS} FROM audit_entry WHERE ${auditCondition({ value: (index) => `?${index}`, position: "instr" })}
  ORDER BY seq DESC LIMIT ?${AUDIT_FILTER_VALUES + 1}`;

/** The SQL of the audit trail. */
export class AuditTable implements AuditTrail {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async readOn(after: number, limit: number): Promise<AuditEntry[]> {
    const query = `SELECT ${AUDIT_COLUMNS} FROM audit_entry WHERE seq > ? ORDER BY seq LIMIT ?`;
    return this.#ask(query, after, limit);
  }

  async list(filter: AuditFilter, limit: number): Promise<AuditEntry[]> {
    return this.#ask(LIST, ...auditFilterValues(filter), limit);
  }

  #ask(query: string, ...values: (string | number | null)[]): AuditEntry[] {
    const rows = this.#database.ask(() => this.#database.prepare(query).all(...values));
    return (rows as unknown as AuditRow[]).map(toAuditEntry);
  }

  /** Appends an entry. To be called inside the write transaction that makes the change. */
  append(change: AuditedChange, by: Attribution): void {
    const last = this.#database.prepare("SELECT seq, hash FROM audit_entry ORDER BY seq DESC LIMIT 1").get();
    const entry = nextEntry((last as AuditCheckpoint | undefined) ?? NO_ENTRY, change, by);
    this.#database
      .prepare(`INSERT INTO audit_entry (${AUDIT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`)
      .run(...auditColumns(entry));
  }
}
