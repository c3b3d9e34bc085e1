import type { ArchiveChunk, ArchiveTotals, Store } from "../store/store.ts";
import { type ArchiveProgress, watchArchive } from "./watch-archive.ts";

export type CopyProgress =
  | ({ readonly step: "copying" } & ArchiveProgress)
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
  return from.exportArchive("wait", (chunks) => fillStore(to, chunks, onProgress));
}

/** Fills a store, and says how far that is. @throws StoreRefused as Store.importArchive. */
export function fillStore(
  to: Store,
  chunks: AsyncIterable<ArchiveChunk>,
  onProgress: (progress: CopyProgress) => void,
): Promise<ArchiveTotals> {
  return to.importArchive(watched(chunks, onProgress));
}

async function* watched(
  chunks: AsyncIterable<ArchiveChunk>,
  onProgress: (progress: CopyProgress) => void,
): AsyncGenerator<ArchiveChunk> {
  yield* watchArchive(chunks, (progress) => onProgress({ step: "copying", ...progress }));
  onProgress({ step: "verifying" });
}
