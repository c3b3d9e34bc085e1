import { BackupCount } from "../../backup/backup-count.ts";
import { type Bytes, readChunks, readHeader, verifySeal, writeBackup } from "../../backup/backup-file.ts";
import type { BackupHeader } from "../../backup/header.ts";
import type { Instant } from "../../domain/wall-time.ts";
import type { ArchiveChunk, ArchiveTotals, Store } from "../../store/store.ts";
import type { Ports } from "../ports.ts";

/** How far an archive is: `rows` of all rows, the last ones from `table`; or all were written, and are read again. */
export type ArchiveProgress =
  | { readonly step: "rows"; readonly table: string; readonly rows: number; readonly of: number }
  | { readonly step: "verifying" };

type OnProgress = (progress: ArchiveProgress) => void;

/**
 * Copies everything from one store to another, which must be empty and have the same settings: all of it, or
 * nothing. Nobody can write into either of them meanwhile.
 * @returns what was copied, as both count it.
 * @throws StoreRefused as Store.importArchive.
 */
export function copyStore(from: Store, to: Store, onProgress: OnProgress): Promise<ArchiveTotals> {
  return from.exportArchive("wait", (chunks) => to.importArchive(watched(chunks, onProgress, true)));
}

export interface BackUpRequest {
  /** The version of this topupd. */
  readonly version: string;
  /** The kind of the store. */
  readonly kind: string;
  /** Keeps the backup, and says of how many bytes it was. */
  readonly write: (backup: Bytes) => Promise<number>;
  readonly onProgress: OnProgress;
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
  { version, kind, write, onProgress, signal }: BackUpRequest,
): Promise<BackedUp> {
  const { zone, currencyExponent, defaultCountry } = store.provider;
  const takenAt = clock();
  const header = { topupd: version, takenAt, store: kind, timeZone: zone.name, currencyExponent, defaultCountry };
  return store.exportArchive("go_on", async (chunks) => {
    let totals: ArchiveTotals = { rows: {}, money: [] };
    const noted = async function* (): AsyncGenerator<ArchiveChunk> {
      for await (const chunk of watched(chunks, onProgress)) {
        if (chunk.kind === "totals") totals = chunk.totals;
        yield chunk;
      }
    };
    const bytes = await write(writeBackup(header, noted(), signal));
    return { takenAt, totals, bytes };
  });
}

/** Begins at the first byte of the backup whenever it is called. */
export type OpenBackup = () => Bytes;

/**
 * What a backup says of itself, once all of it is known to be as it was written.
 * @throws BackupRefused where it is not, or where this topupd cannot restore it.
 */
export async function openBackup(open: OpenBackup): Promise<BackupHeader> {
  await verifySeal(open());
  return readHeader(open());
}

/**
 * Fills a store, which must be empty and have the settings of the backup, with all that the backup holds, or with
 * nothing.
 * @throws BackupRefused where the backup is not whole; StoreRefused as Store.importArchive.
 */
export function restoreStore(open: OpenBackup, to: Store, onProgress: OnProgress): Promise<ArchiveTotals> {
  return to.importArchive(watched(readChunks(open()), onProgress, true));
}

export interface VerifiedBackup {
  readonly totals: ArchiveTotals;
  /** The names of the partners, by their numbers. */
  readonly partners: ReadonlyMap<number, string>;
}

/**
 * Reads a backup to its end: each row must be the one that was read from the database, and all must come to what was
 * counted there. No database is needed.
 * @throws BackupRefused where that is not so.
 */
export async function verifyBackup(open: OpenBackup, onProgress: OnProgress): Promise<VerifiedBackup> {
  const count = new BackupCount();
  for await (const chunk of watched(readChunks(open()), onProgress)) count.add(chunk);
  return { totals: count.conclude(), partners: count.partners };
}

/** Hands the chunks on, and says how far it is. @param verifies whether all is read again in the end. */
async function* watched(
  chunks: AsyncIterable<ArchiveChunk>,
  onProgress: OnProgress,
  verifies = false,
): AsyncGenerator<ArchiveChunk> {
  let [rows, of] = [0, 0];
  for await (const chunk of chunks) {
    if (chunk.kind === "totals") of = Object.values(chunk.totals.rows).reduce((sum, count) => sum + count, 0);
    else {
      rows += chunk.rows.length;
      onProgress({ step: "rows", table: chunk.table, rows, of });
    }
    yield chunk;
  }
  if (verifies) onProgress({ step: "verifying" });
}
