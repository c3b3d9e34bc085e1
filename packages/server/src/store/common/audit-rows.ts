import { type AuditCheckpoint, type AuditEntry, findBreak, NO_ENTRY } from "../../domain/audit.ts";
import type { AuditFilter } from "../audit-trail.ts";
import type { CheckEvent } from "../store.ts";

/** An entry of the audit trail as every store has it. */
export interface AuditRow {
  seq: number;
  at: number;
  author: string;
  action: string;
  subject: string;
  hash: string;
  reason: string | null;
  before: string | null;
  after: string | null;
}

export const AUDIT_COLUMNS = "seq, at, author, action, subject, hash, reason, before, after";

export const AUDIT_TRAIL = `SELECT ${AUDIT_COLUMNS} FROM audit_entry ORDER BY seq`;

/** The values of {@link AUDIT_COLUMNS}. */
export function auditColumns(entry: AuditEntry): (string | number | null)[] {
  const { seq, at, author, action, subject, hash, reason, before, after } = entry;
  return [seq, at, author, action, subject, hash, reason ?? null, before ?? null, after ?? null];
}

export function toAuditEntry({ reason, before, after, ...row }: AuditRow): AuditEntry {
  return { ...row, reason: reason ?? undefined, before: before ?? undefined, after: after ?? undefined };
}

/** How many values {@link auditFilterValues} gives. */
export const AUDIT_FILTER_VALUES = 8;

/** What the SQL of one database has by another name than that of the other. */
interface Dialect {
  /** The parameter of a number, from 1, and of a type. */
  readonly value: (index: number, type: string) => string;
  /** The function that finds a text in another, and is 0 where it does not. */
  readonly position: string;
}

export function auditCondition({ value, position }: Dialect): string {
  const [upTo, author, action, subject] = [value(1, "integer"), value(2, "text"), value(3, "text"), value(4, "text")];
  const [key, word, from, until] = [value(5, "text"), value(6, "text"), value(7, "bigint"), value(8, "bigint")];
  return `(${upTo} IS NULL OR seq <= ${upTo}) AND (${author} IS NULL OR author = ${author})
    AND (${action} IS NULL OR action = ${action}) AND (${subject} IS NULL OR subject = ${subject})
    AND (${from} IS NULL OR at >= ${from}) AND (${until} IS NULL OR at < ${until})
    AND (${key} IS NULL OR ${position}(subject, ${word}) > 0 OR ${position}(after, ${key}) > 0)`;
}

export function auditFilterValues(filter: AuditFilter): (string | number | null)[] {
  const { upTo, author, action, subject, cuid, from, until } = filter;
  // An entry about many has what each is now under the cuid; one about a connection names it between blanks.
  const [key, word] = cuid === undefined ? [null, null] : [`${JSON.stringify(cuid)}:`, ` ${cuid} `];
  return [upTo ?? null, author ?? null, action ?? null, subject ?? null, key, word, from ?? null, until ?? null];
}

/** Whether the audit trail is whole as far as it goes: only a checkpoint tells whether its end is missing. */
export async function* checkAuditTrail(rows: AsyncIterable<unknown> | Iterable<unknown>): AsyncGenerator<CheckEvent> {
  let last: AuditCheckpoint = NO_ENTRY;
  for await (const row of rows as AsyncIterable<AuditRow> | Iterable<AuditRow>) {
    const entry = toAuditEntry(row);
    const broken = findBreak(last, entry);
    if (broken !== undefined) {
      yield { kind: "wrong", what: `the audit trail is broken: ${broken}` };
      return;
    }
    last = entry;
  }
  yield { kind: "checked", what: "audit trail: each entry follows from the one before it", count: last.seq };
}
