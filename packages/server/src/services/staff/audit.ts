import { type AuditCheckpoint, type AuditEntry, findBreak, NO_ENTRY } from "../../domain/audit.ts";
import { entryOfCustomer } from "../../domain/customer-audit.ts";
import type { AuditFilter, ListedAuditEntry } from "../../store/search.ts";
import type { ReadingPorts } from "../ports.ts";

/** The most that one list holds. */
export const MAX_AUDIT_ENTRIES = 1_000;

export interface AuditRequest {
  readonly filter: AuditFilter;
  /** From 1 to {@link MAX_AUDIT_ENTRIES}. */
  readonly limit: number;
}

export interface AuditAnswer {
  /** Newest first; with a cuid, what they tell of this customer. */
  readonly entries: readonly ListedAuditEntry[];
  /** The number of the next entry, with which a list `upTo` it goes on; undefined at the end. */
  readonly next: number | undefined;
}

/** What staff and imports have changed. */
export async function listAudit({ store }: ReadingPorts, { filter, limit }: AuditRequest): Promise<AuditAnswer> {
  const { cuid } = filter;
  const found = await store.auditTrail.list(filter, limit + 1);
  const entries = found.slice(0, limit);
  return {
    entries: cuid === undefined ? entries : entries.map((entry) => entryOfCustomer(entry, cuid)),
    next: found[limit]?.seq,
  };
}

export type AuditVerdict =
  | { readonly kind: "whole"; readonly last: AuditCheckpoint; readonly checkpoints: number }
  /** An entry was changed, removed or moved. */
  | { readonly kind: "broken"; readonly why: string }
  /** It is whole in itself, but not the trail that the checkpoint was taken of. */
  | { readonly kind: "another"; readonly checkpoint: AuditCheckpoint; readonly last: AuditCheckpoint };

/** As many as are read together: an entry of an import may be some ten kilobytes long. */
const ENTRIES_AT_ONCE = 200;

/**
 * Reads the whole audit trail, and holds it against checkpoints that were kept elsewhere: without any, nothing tells
 * whether its end was cut off, or all of it written anew.
 */
export async function verifyAudit(
  { store }: ReadingPorts,
  { checkpoints }: { readonly checkpoints: readonly AuditCheckpoint[] },
): Promise<AuditVerdict> {
  const expected = new Map<number, AuditCheckpoint[]>();
  for (const checkpoint of checkpoints)
    expected.set(checkpoint.seq, [...(expected.get(checkpoint.seq) ?? []), checkpoint]);
  let last = NO_ENTRY;
  let differing: AuditCheckpoint | undefined;
  for await (const entry of readAudit({ store })) {
    const why = findBreak(last, entry);
    if (why !== undefined) return { kind: "broken", why };
    last = { seq: entry.seq, hash: entry.hash };
    differing ??= expected.get(entry.seq)?.find(({ hash }) => hash !== entry.hash);
  }
  differing ??= checkpoints.find(({ seq }) => seq > last.seq);
  if (differing !== undefined) return { kind: "another", checkpoint: differing, last };
  return { kind: "whole", last, checkpoints: checkpoints.length };
}

/** All entries, oldest first, in short steps. */
export async function* readAudit({ store }: ReadingPorts): AsyncGenerator<AuditEntry> {
  for (let after = 0; ; ) {
    const entries = await store.auditTrail.readOn(after, ENTRIES_AT_ONCE);
    yield* entries;
    const last = entries.at(-1);
    if (last === undefined) return;
    after = last.seq;
  }
}

const CHECKPOINT = /^([1-9][0-9]{0,9}):([0-9a-f]{64})$/;

/** @param text a number, a colon and 64 hexadecimal digits; undefined for any other. */
export function readCheckpoint(text: string): AuditCheckpoint | undefined {
  const [, seq, hash] = CHECKPOINT.exec(text) ?? [];
  return seq === undefined || hash === undefined ? undefined : { seq: Number(seq), hash };
}
