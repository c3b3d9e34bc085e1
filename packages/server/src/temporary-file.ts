import { createReadStream, createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/** A file that only its owner can read, at a path that nothing has. @param path is in a folder for such files. */
export function createTemporaryFile(path: string) {
  return {
    write: (pieces: AsyncIterable<Uint8Array>): Promise<void> =>
      pipeline(Readable.from(pieces), createWriteStream(path, { flags: "wx", mode: 0o600 })),
    open: (): AsyncIterable<Uint8Array> => createReadStream(path),
    remove: (): Promise<void> => rm(path, { force: true }),
  };
}
