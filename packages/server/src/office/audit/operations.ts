import { type Static, Type } from "typebox";
import { type AuditCheckpoint, findBreak, NO_ENTRY } from "../../domain/audit.ts";
import { entryOfCustomer } from "../../domain/customer-audit.ts";
import { isoTime } from "../../domain/wall-time.ts";
import { daysOf, limitOf, numberCursor, pageUpTo } from "../common.ts";
import { type Rows, rowsOf } from "../fields.ts";
import type { Db } from "../office.ts";
import { type Operation, operation } from "../operation.ts";
import { Refused } from "../refused.ts";
import { AuditListSchema, AuditVerificationSchema, ExportedAuditEntrySchema, FilterSchema } from "./schemas.ts";
import { listEntries, readEntries } from "./sql.ts";
import { auditLines, verificationLines } from "./words.ts";

/* What staff and imports have changed. */

const AS = { tag: "Audit trail", permission: "read" } as const;
/** An entry of an import may be some ten kilobytes long. */
const ENTRIES_AT_ONCE = 200;

export const listAudit = operation({
  ...AS,
  http: "GET /audit",
  summary: "List what staff and imports have changed, newest first",
  input: FilterSchema,
  answer: AuditListSchema,
  cli: [
    {
      words: "audit list",
      show: auditLines,
      examples: ["topupd audit list --from 2026-11-20", "topupd audit list --action transaction.reverse --json"],
    },
  ],
  async run(office, input) {
    const { author, action, subject, reason, cuid } = input;
    const limit = limitOf(input);
    const filter = { author, action, subject, reason, cuid, upTo: numberCursor(input), ...daysOf(office, input) };
    const found = await listEntries(office.store.engine.db, filter, limit + 1);
    const { items } = pageUpTo(limit, found, ({ seq }) => String(seq));
    const next = found[limit]?.seq;
    return {
      items: items.map((entry) => {
        const { before, after, hash: _, ...rest } = cuid === undefined ? entry : entryOfCustomer(entry, cuid);
        const texts = { reason: rest.reason ?? null, before: parsed(before), after: parsed(after) };
        return { ...rest, at: isoTime(rest.at), ...texts };
      }),
      cursor: next === undefined ? null : String(next),
    };
  },
});

function parsed(text: string | undefined): unknown {
  return text === undefined ? null : JSON.parse(text);
}

export const exportAudit = operation({
  ...AS,
  http: "GET /audit.csv",
  summary: "Export all entries of the audit trail, oldest first",
  input: Type.Object({}),
  answer: rowsOf(ExportedAuditEntrySchema),
  cli: [
    {
      words: "audit export",
      summary: "export all entries, oldest first; the last line is a checkpoint",
      examples: ["topupd audit export --output audit-2026-11-20.ndjson"],
    },
  ],
  run: async ({ store }) => exported(store.engine.db),
});

async function* exported(db: Db): Rows<Static<typeof ExportedAuditEntrySchema>> {
  let last: AuditCheckpoint | undefined;
  for await (const entries of pagesOf(db)) {
    yield entries.map(({ at, reason = null, before = null, after = null, ...entry }) => {
      return { ...entry, at: isoTime(at), reason, before, after };
    });
    last = entries.at(-1);
  }
  return last === undefined ? undefined : { checkpoint: checkpointText(last) };
}

export const verifyAudit = operation({
  ...AS,
  http: "POST /audit/verification",
  changesNothing: true,
  summary: "Find out whether an entry was changed, removed, moved or cut off",
  input: Type.Object({
    checkpoint: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: 100,
        description: "An entry that was kept elsewhere, SEQ:HASH; can be given again.",
      }),
    ),
  }),
  answer: AuditVerificationSchema,
  cli: [
    {
      words: "audit verify",
      summary: "find out whether an entry was changed, removed, moved or cut off (exit code 3: one was)",
      show: verificationLines,
      examples: ["topupd audit verify"],
    },
  ],
  async run({ store }, { checkpoint: given = [] }) {
    const kept = given.map(readCheckpoint);
    let last = NO_ENTRY;
    let differing: AuditCheckpoint | undefined;
    const verdict = (problem: string | null) => {
      return { entries: last.seq, checkpoint: last === NO_ENTRY ? null : checkpointText(last), problem };
    };
    for await (const entries of pagesOf(store.engine.db))
      for (const entry of entries) {
        const why = findBreak(last, entry);
        if (why !== undefined) return verdict(`the audit trail is broken: ${why}`);
        last = { seq: entry.seq, hash: entry.hash };
        differing ??= kept.find(({ seq, hash }) => seq === entry.seq && hash !== entry.hash);
      }
    differing ??= kept.find(({ seq }) => seq > last.seq);
    if (differing === undefined) return verdict(null);
    const why = differing.seq > last.seq ? `it ends with entry ${last.seq}` : "another entry stands there";
    return verdict(`the audit trail is not the one of checkpoint ${differing.seq}: ${why}`);
  },
});

/** All entries, oldest first. */
async function* pagesOf(db: Db) {
  for (let after = 0; ; ) {
    const entries = await readEntries(db, after, ENTRIES_AT_ONCE);
    const last = entries.at(-1);
    if (last === undefined) return;
    yield entries;
    after = last.seq;
  }
}

const CHECKPOINT = /^([1-9][0-9]{0,9}):([0-9a-f]{64})$/;

/** @throws Refused */
function readCheckpoint(text: string): AuditCheckpoint {
  const [, seq, hash] = CHECKPOINT.exec(text) ?? [];
  if (seq !== undefined && hash !== undefined) return { seq: Number(seq), hash };
  throw Refused.field("checkpoint", "must be a number, a colon and 64 hexadecimal digits");
}

function checkpointText({ seq, hash }: AuditCheckpoint): string {
  return `${seq}:${hash}`;
}

export const operations: readonly Operation[] = [listAudit, exportAudit, verifyAudit];
