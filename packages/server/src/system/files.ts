import { type FileHandle, open, readdir, rename, stat, unlink } from "node:fs/promises";
import { dirname } from "node:path";

const PIECE_BYTES = 64 * 1024;

/**
 * A file that is unlinked as soon as it is open: the system frees its space when this process ends, even after a crash.
 * @param path path of a new file.
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

export const folderTools = {
  listFolder: (path: string): Promise<string[]> => readdir(path),
  removeFile: (path: string): Promise<void> => unlink(path),
};

/* A file that gets its name only after all its bytes are on disk, so that a reader never finds half a file. */

/** Errors of systems that cannot flush a folder. */
const NO_FLUSH = ["EINVAL", "EISDIR", "EPERM", "EACCES", "ENOTSUP"];

interface WholeFileOptions {
  /** Whether an existing file is replaced; otherwise an existing file is an error. */
  readonly replace: boolean;
  /** Ending of the temporary name, unique in the folder. */
  readonly suffix: string;
  /** Reads the whole file under its temporary name. */
  readonly verify?: (path: string) => Promise<unknown>;
}

/**
 * Writes a file that only its owner may read. If writing, `pieces` or `verify` fails, there is no new file.
 * @returns the length in bytes.
 */
export async function writeWholeFile(
  path: string,
  pieces: AsyncIterable<Uint8Array>,
  { replace, suffix, verify }: WholeFileOptions,
): Promise<number> {
  if (replace) await refuseDevice(path);
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
    await verify?.(unfinished);
    // Renaming alone would replace a file created since the check.
    if (!replace) await (await open(path, "wx", 0o600)).close();
    await rename(unfinished, path);
    await flushFolder(dirname(path));
    return bytes;
  } catch (error) {
    await unlink(unfinished).catch(() => {});
    throw error;
  }
}

/** A file may not replace a device such as /dev/null. @throws the error of {@link notRegular} */
async function refuseDevice(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() === false) throw notRegular(path);
}

/** The error of a path that is no regular file, in the form of the system's errors. */
export function notRegular(path: string): Error {
  return Object.assign(new Error("it is not a regular file"), { syscall: "open", path });
}

/** Flushes the file's name, which is stored in the folder: a power cut could otherwise undo the renaming. */
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
