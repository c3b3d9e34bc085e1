import { type AuditCheckpoint, type AuditEntry, findBreak, NO_ENTRY } from "../domain/audit.ts";
import type { Ports } from "./ports.ts";

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
export async function verifyAuditTrail(
  { store }: Pick<Ports, "store">,
  checkpoints: readonly AuditCheckpoint[],
): Promise<AuditVerdict> {
  const expected = new Map(checkpoints.map((checkpoint) => [checkpoint.seq, checkpoint]));
  let last = NO_ENTRY;
  let differing: AuditCheckpoint | undefined;
  for await (const entry of readAuditTrail({ store })) {
    const why = findBreak(last, entry);
    if (why !== undefined) return { kind: "broken", why };
    last = { seq: entry.seq, hash: entry.hash };
    const checkpoint = expected.get(entry.seq);
    if (checkpoint !== undefined && checkpoint.hash !== entry.hash) differing ??= checkpoint;
  }
  differing ??= checkpoints.find(({ seq }) => seq > last.seq);
  if (differing !== undefined) return { kind: "another", checkpoint: differing, last };
  return { kind: "whole", last, checkpoints: checkpoints.length };
}

/** All entries, oldest first, in short steps. */
export async function* readAuditTrail({ store }: Pick<Ports, "store">): AsyncGenerator<AuditEntry> {
  for (let after = 0; ; ) {
    const entries = await store.auditTrail.readOn(after, ENTRIES_AT_ONCE);
    yield* entries;
    const last = entries.at(-1);
    if (last === undefined) return;
    after = last.seq;
  }
}
