import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Scratch, ScratchFailed } from "./operations/scratch.ts";

/**
 * Opens a temporary file that nobody else can read, in the folder that TMPDIR names. Its name is gone as soon as it is
 * open, so that the disk is free again when the process ends, even where it is killed. Windows removes a name only
 * when the file is closed.
 */
export async function openScratchFile(): Promise<Scratch> {
  return orFail(async () => {
    const folder = await mkdtemp(join(tmpdir(), "topupd-"));
    const remove = () => rm(folder, { recursive: true, force: true }).catch(() => {});
    const file = await open(join(folder, "scratch"), "wx+", 0o600).catch(async (error: unknown) => {
      await remove();
      throw error;
    });
    await remove();
    let end = 0;
    return {
      append: (block) =>
        orFail(async () => {
          const at = end;
          end += block.length;
          for (let done = 0; done < block.length; ) {
            const { bytesWritten } = await file.write(block, done, block.length - done, at + done);
            done += bytesWritten;
          }
          return at;
        }),
      read: (at, bytes) =>
        orFail(async () => {
          const block = new Uint8Array(bytes);
          for (let done = 0; done < bytes; ) {
            const { bytesRead } = await file.read(block, done, bytes - done, at + done);
            if (bytesRead === 0) throw new Error("the temporary file has become shorter");
            done += bytesRead;
          }
          return block;
        }),
      close: async () => {
        await file.close();
        await remove();
      },
    };
  });
}

async function orFail<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw new ScratchFailed(`the temporary file failed: ${(error as Error).message}`);
  }
}
