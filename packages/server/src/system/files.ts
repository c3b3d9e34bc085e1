import { type FileHandle, open, rename, unlink } from "node:fs/promises";
import { dirname } from "node:path";

const PIECE_BYTES = 64 * 1024;

/**
 * A file that loses its name as soon as it is open: the system frees its space when this process ends, however it ends.
 * @param path nothing has it.
 */
export function createTemporaryFile(path: string) {
  let file: FileHandle | undefined;
  return {
    write: async (pieces: AsyncIterable<Uint8Array>): Promise<void> => {
      file = await open(path, "wx+", 0o600);
      await unlink(path);
      for await (const piece of pieces) await file.writeFile(piece);
    },
    open: async function* (): AsyncGenerator<Uint8Array> {
      if (file === undefined) throw new Error("the file is not written");
      for (let position = 0; ; ) {
        const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(PIECE_BYTES), 0, PIECE_BYTES, position);
        if (bytesRead === 0) return;
        position += bytesRead;
        yield buffer.subarray(0, bytesRead);
      }
    },
    remove: async (): Promise<void> => file?.close(),
  };
}

/*
 * A file that has its name only once all of it is on the disk: whoever finds it, finds it whole, whatever happens
 * while it is written.
 */

/** Where a folder cannot be flushed. */
const NO_FLUSH = ["EINVAL", "EISDIR", "EPERM", "EACCES", "ENOTSUP"];

interface WholeFileOptions {
  /** Puts the file in the place of one that is there; otherwise that stays, and it is an error. */
  readonly overwrite: boolean;
  /** What no other file of the folder has after its name. */
  readonly suffix: string;
}

/**
 * Writes a file that only its owner may read. Where anything fails, the pieces among it, there is no new file.
 * @returns its length in bytes.
 */
export async function writeWholeFile(
  path: string,
  pieces: AsyncIterable<Uint8Array>,
  { overwrite, suffix }: WholeFileOptions,
): Promise<number> {
  const unfinished = `${path}.${suffix}.part`;
  const file = await open(unfinished, "wx", 0o600);
  try {
    let bytes = 0;
    try {
      for await (const piece of pieces) {
        await file.writeFile(piece);
        bytes += piece.length;
      }
      await file.sync();
    } finally {
      await file.close();
    }
    // Renaming alone would replace a file that has come since anybody looked.
    if (!overwrite) await (await open(path, "wx", 0o600)).close();
    await rename(unfinished, path);
    await flushFolder(dirname(path));
    return bytes;
  } catch (error) {
    await unlink(unfinished).catch(() => {});
    throw error;
  }
}

/** The name is in the folder: without this, a power cut may take it back. */
async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } catch (error) {
    if (!(error instanceof Error && "code" in error && NO_FLUSH.includes(String(error.code)))) throw error;
  } finally {
    await folder.close();
  }
}
