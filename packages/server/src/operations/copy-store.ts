import type { ArchiveChunk, ArchiveTotals, Store } from "../store/store.ts";

export type CopyProgress =
  /** `rows` of all rows were read, the last ones from `table`. */
  | { readonly step: "copying"; readonly table: string; readonly rows: number; readonly of: number }
  /** All rows were written, and are read again. */
  | { readonly step: "verifying" };

/**
 * Copies everything from one store to another, which must be empty and have the same settings: all of it, or
 * nothing. Nobody can write into either of them meanwhile.
 * @returns what was copied, as both count it.
 * @throws StoreRefused as Store.importArchive.
 */
export async function copyStore(
  from: Store,
  to: Store,
  onProgress: (progress: CopyProgress) => void,
): Promise<ArchiveTotals> {
  return from.exportArchive((chunks) => to.importArchive(watched(chunks, onProgress)));
}

async function* watched(
  chunks: AsyncIterable<ArchiveChunk>,
  onProgress: (progress: CopyProgress) => void,
): AsyncGenerator<ArchiveChunk> {
  let [rows, of] = [0, 0];
  for await (const chunk of chunks) {
    if (chunk.kind === "totals") of = Object.values(chunk.totals.rows).reduce((sum, count) => sum + count, 0);
    else {
      rows += chunk.rows.length;
      onProgress({ step: "copying", table: chunk.table, rows, of });
    }
    yield chunk;
  }
  onProgress({ step: "verifying" });
}
