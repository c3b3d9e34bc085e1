import { closeSync, fsyncSync, openSync, readSync, statSync, writeSync } from "node:fs";

const CHUNK_BYTES = 1024 * 1024;

/**
 * Writes again, and flushes, the log that a process has left. SQLite takes up commits from it that no flush has reached,
 * and a power cut would take them and whatever is logged after them. A flush by itself is not enough: what an earlier one
 * failed to write, the system takes for written. To be called while nobody else can write to it.
 */
export function writeLogAnew(log: string): void {
  const size = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0) return;
  const file = openSync(log, "r+");
  try {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    for (let at = 0; at < size; ) {
      const read = readSync(file, chunk, 0, CHUNK_BYTES, at);
      at += writeSync(file, chunk, 0, read, at);
    }
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
