import type { ArchiveChunk } from "../store/store.ts";

/** How far an archive was read: `rows` of all rows, the last ones from `table`. */
export interface ArchiveProgress {
  readonly table: string;
  readonly rows: number;
  readonly of: number;
}

/** Hands the chunks on, and says how far it is before each portion of rows. */
export async function* watchArchive(
  chunks: AsyncIterable<ArchiveChunk>,
  onProgress: (progress: ArchiveProgress) => void,
): AsyncGenerator<ArchiveChunk> {
  let [rows, of] = [0, 0];
  for await (const chunk of chunks) {
    if (chunk.kind === "totals") of = Object.values(chunk.totals.rows).reduce((sum, count) => sum + count, 0);
    else {
      rows += chunk.rows.length;
      onProgress({ table: chunk.table, rows, of });
    }
    yield chunk;
  }
}
