import { type Bytes, writeBackup } from "../backup/backup-file.ts";
import type { Instant } from "../domain/calendar.ts";
import type { ArchiveChunk, ArchiveTotals } from "../store/store.ts";
import type { Ports } from "./ports.ts";
import { type ArchiveProgress, watchArchive } from "./watch-archive.ts";

export interface BackUpOptions {
  /** The version of this topupd. */
  readonly version: string;
  /** The kind of the store. */
  readonly kind: string;
  /** Keeps the backup, and says of how many bytes it was. */
  readonly write: (backup: Bytes) => Promise<number>;
  readonly onProgress: (progress: ArchiveProgress) => void;
  /** Ends it with an error. */
  readonly signal: AbortSignal;
}

export interface BackedUp {
  readonly takenAt: Instant;
  readonly totals: ArchiveTotals;
  readonly bytes: number;
}

/**
 * Makes a backup of everything that was acknowledged before. It holds nobody up: what is recorded meanwhile is not
 * in it.
 * @throws StoreUnavailable where the store cannot be read; or whatever `write` rejects with.
 */
export async function backUpStore(
  { store, clock }: Pick<Ports, "store" | "clock">,
  { version, kind, write, onProgress, signal }: BackUpOptions,
): Promise<BackedUp> {
  const { calendar, currencyExponent } = store.provider;
  const takenAt = clock();
  const header = { topupd: version, takenAt, store: kind, timeZone: calendar.timeZone, currencyExponent };
  return store.exportArchive("go_on", async (chunks) => {
    let totals: ArchiveTotals = { rows: {}, money: [] };
    const noted = async function* (): AsyncGenerator<ArchiveChunk> {
      for await (const chunk of watchArchive(chunks, onProgress)) {
        if (chunk.kind === "totals") totals = chunk.totals;
        yield chunk;
      }
    };
    const bytes = await write(writeBackup(header, noted(), signal));
    return { takenAt, totals, bytes };
  });
}
