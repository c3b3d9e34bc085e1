import type { ArchiveChunk } from "../store/store.ts";
import { compress, decompress } from "./compression.ts";
import { BackupRefused } from "./errors.ts";
import type { BackupHeader } from "./header.ts";
import { type BackupPart, readLines, writeLines } from "./lines.ts";
import { BEGINNING, seal, unseal } from "./seal.ts";

/** The bytes of a file, from the first one on. */
export type Bytes = AsyncIterable<Uint8Array>;

/**
 * A backup as it is written: gzip'ed lines, and a seal.
 * @param signal ends it with an error.
 */
export function writeBackup(header: BackupHeader, chunks: AsyncIterable<ArchiveChunk>, signal: AbortSignal): Bytes {
  return seal(compress(writeLines(header, chunks), signal));
}

/** Whether a file begins as a backup does, or is empty: then another backup may take its place. */
export async function isBackup(file: Bytes): Promise<boolean> {
  let beginning = Buffer.alloc(0);
  for await (const piece of file) {
    beginning = Buffer.concat([beginning, piece]);
    if (beginning.length >= BEGINNING.length) break;
  }
  return beginning.length === 0 || beginning.subarray(0, BEGINNING.length).equals(BEGINNING);
}

/** @throws BackupRefused where the file is not a whole backup, byte for byte as it was written. */
export async function verifySeal(file: Bytes): Promise<void> {
  for await (const _ of unseal(file)) {
    // Only its end tells.
  }
}

/** @throws BackupRefused where there is none that this topupd can restore. */
export async function readHeader(file: Bytes): Promise<BackupHeader> {
  for await (const part of readParts(file)) if (part.kind === "header") return part.header;
  throw new BackupRefused("is empty");
}

/**
 * What is stored in the backup. Until it has come to its end, nothing of it can be relied upon.
 * @throws BackupRefused where it is not whole, or not as it was written.
 */
export async function* readChunks(file: Bytes): AsyncGenerator<ArchiveChunk> {
  for await (const part of readParts(file)) if (part.kind !== "header") yield part;
}

function readParts(file: Bytes): AsyncGenerator<BackupPart> {
  return readLines(decompress(unseal(file)));
}
