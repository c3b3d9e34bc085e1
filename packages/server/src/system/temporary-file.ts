import { type FileHandle, open, unlink } from "node:fs/promises";

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
