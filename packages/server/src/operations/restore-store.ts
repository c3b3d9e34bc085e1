import { BackupCount } from "../backup/backup-count.ts";
import { type Bytes, readChunks, readHeader, verifySeal } from "../backup/backup-file.ts";
import type { BackupHeader } from "../backup/header.ts";
import type { ArchiveTotals, Store } from "../store/store.ts";
import { type CopyProgress, fillStore } from "./copy-store.ts";
import { type ArchiveProgress, watchArchive } from "./watch-archive.ts";

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
export function restoreStore(
  open: OpenBackup,
  to: Store,
  onProgress: (progress: CopyProgress) => void,
): Promise<ArchiveTotals> {
  return fillStore(to, readChunks(open()), onProgress);
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
export async function verifyBackup(
  open: OpenBackup,
  onProgress: (progress: ArchiveProgress) => void,
): Promise<VerifiedBackup> {
  const count = new BackupCount();
  for await (const chunk of watchArchive(readChunks(open()), onProgress)) count.add(chunk);
  return { totals: count.conclude(), partners: count.partners };
}
