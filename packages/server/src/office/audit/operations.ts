import { type Static, Type } from "typebox";
import { AUDIT_ACTIONS, type AuditCheckpoint, findBreak, NO_ENTRY } from "../../domain/audit.ts";
import { entryOfCustomer } from "../../domain/customer-audit.ts";
import { Refused } from "../../domain/refused.ts";
import { isoTime } from "../../domain/wall-time.ts";
import type { Db } from "../../store/engine.ts";
import type { ProviderSettings } from "../../store/store.ts";
import { DAYS, daysOf, InstantSchema, numberCursor, oneOf, orNull, PAGE, pageOf, readPage } from "../common.ts";
import { type Rows, rowsOf } from "../fields.ts";
import { type Operation, operation, type Shown } from "../operation.ts";
import { printable, shellWord } from "../text.ts";
import { listEntries, readEntries } from "./sql.ts";

const text = (description: string) => Type.Optional(Type.String({ description }));

export const FilterSchema = Type.Object({
  ...DAYS,
  author: text("Made by this person, or by `key NAME`, a system."),
  action: Type.Optional(oneOf(AUDIT_ACTIONS, "Of this kind.")),
  subject: text("Of this subject, exactly as a list shows it."),
  reason: text("With this reason; each entry of an import or bulk change is listed by itself."),
  cuid: text("Of this customer; an import or bulk change shows only this customer."),
  ...PAGE,
});

const ENTRY = {
  seq: Type.Integer({ description: "Counted from 1, without a gap." }),
  at: InstantSchema,
  author: Type.String({ description: "Person; `key NAME` for a system." }),
  byStaff: Type.Boolean({ description: "Whether the author is an account or API key; else the shell or the issuer." }),
  action: Type.String(),
  subject: Type.String({ description: "Changed object." }),
  reason: orNull(Type.String()),
};

export const AuditEntrySchema = Type.Object(
  {
    ...ENTRY,
    parts: Type.Integer({
      description:
        "Number of entries that this line stands for: more than 1 for an import or bulk change, whose entries share a reason.",
    }),
    before: Type.Unknown({ description: "Changed fields before; null if there was nothing." }),
    after: Type.Unknown({ description: "Changed fields after; null if there is nothing." }),
  },
  { title: "AuditEntry" },
);
export const AuditListSchema = pageOf(AuditEntrySchema);

/** An entry with the texts that were hashed. */
export const ExportedAuditEntrySchema = Type.Object(
  { ...ENTRY, before: orNull(Type.String()), after: orNull(Type.String()), hash: Type.String() },
  { title: "ExportedAuditEntry" },
);

export const AuditVerificationSchema = Type.Object(
  {
    entries: Type.Integer({ description: "Number of entries that were checked." }),
    checkpoint: orNull(Type.String({ description: "Last entry as SEQ:HASH. Keep it elsewhere." })),
    problem: orNull(
      Type.String({ description: "Entry that was changed, removed, moved or cut off; null if none was." }),
    ),
  },
  { title: "AuditVerification" },
);

/** Longest text shown: an entry with many customers is long, and only --json prints all of it. */
const MOST_SHOWN = 400;

export function auditLines({ items }: Static<typeof AuditListSchema>, { zone }: ProviderSettings): Shown {
  return { out: items.map((entry) => entryLines(entry, zone.wallTime(Date.parse(entry.at)))).join("") };
}

function entryLines(entry: Static<typeof AuditEntrySchema>, time: string): string {
  const { seq, author, action, subject, reason, parts, before, after } = entry;
  const title = `${seq}  ${time}  ${action}  ${subject}  by ${author}${reason === null ? "" : `: ${reason}`}`;
  const more = `${parts} entries: add --reason ${shellWord(reason ?? "")} to see each`;
  const change = `${stateText(before)} -> ${stateText(after)}`;
  const shown = change.length > MOST_SHOWN ? `${change.slice(0, MOST_SHOWN)}… (--json shows all)` : change;
  return `${printable(title)}\n    ${parts > 1 ? more : printable(shown)}\n`;
}

function stateText(state: unknown): string {
  return state === null ? "nothing" : JSON.stringify(state);
}

export function verificationLines(verification: Static<typeof AuditVerificationSchema>): Shown {
  const { entries, checkpoint, problem } = verification;
  if (problem !== null) return { out: "", wrong: problem };
  const out = `ok     ${entries} entries, each follows from the one before it\n`;
  const keep = `To find out later whether anything up to here was changed, keep this elsewhere: --checkpoint ${checkpoint}\n`;
  return { out, note: checkpoint === null ? "" : keep };
}

/* The audit trail: changes by staff and imports. */

const AS = { tag: "Audit trail", permission: "read" } as const;
/** Entries read at once. An entry of an import may have some ten kilobytes. */
const ENTRIES_AT_ONCE = 200;

export const listAudit = operation({
  ...AS,
  http: "GET /audit",
  isReport: true,
  summary: "List changes by staff and imports, newest first",
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
    const filter = { author, action, subject, reason, cuid, upTo: numberCursor(input), ...daysOf(office, input) };
    const read = (limit: number) => listEntries(office.store.engine.db, filter, limit);
    const { items, cursor } = await readPage(input, read, ({ seq }) => seq - 1);
    return {
      items: items.map((entry) => {
        const { before, after, hash: _, ...rest } = cuid === undefined ? entry : entryOfCustomer(entry, cuid);
        const texts = { reason: rest.reason ?? null, before: parsed(before), after: parsed(after) };
        return { ...rest, at: isoTime(rest.at), ...texts };
      }),
      cursor,
    };
  },
});

function parsed(text: string | undefined): unknown {
  return text === undefined ? null : JSON.parse(text);
}

export const exportAudit = operation({
  ...AS,
  http: "GET /audit.csv",
  isReport: true,
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
  summary: "Check that no entry was changed, removed, moved or cut off",
  input: Type.Object({
    checkpoint: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: 100,
        description: "Entry that you kept elsewhere, as SEQ:HASH; can be repeated.",
      }),
    ),
  }),
  answer: AuditVerificationSchema,
  cli: [
    {
      words: "audit verify",
      summary: "check that no entry was changed, removed, moved or cut off (exit code 3: one was)",
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

/** Yields all entries, oldest first. */
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
