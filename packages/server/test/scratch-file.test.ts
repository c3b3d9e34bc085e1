import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { openScratchFile } from "../src/scratch-file.ts";
import { temporaryFolder } from "./support/service.ts";

function useFolder(folder = temporaryFolder()): string {
  vi.stubEnv("TMPDIR", folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  return folder;
}

describe("a scratch file", () => {
  test("gives back every block, in whatever order they are asked for", async () => {
    useFolder();
    const scratch = await openScratchFile();
    const blocks = [1, 70_000, 3].map((size, index) => new Uint8Array(size).fill(index + 1));
    // All at once: none may land in another's place.
    const places = await Promise.all(blocks.map((block) => scratch.append(block)));
    for (const [index, block] of [...blocks.entries()].reverse())
      expect(Buffer.compare(await scratch.read(places[index] as number, block.length), block)).toBe(0);
    await scratch.close();
  });

  test("has no name, so that nobody else can open it and a killed process leaves nothing behind", async () => {
    const folder = useFolder();
    const scratch = await openScratchFile();
    await scratch.append(new Uint8Array(10));
    expect(readdirSync(folder)).toEqual([]);
    await scratch.close();
  });

  test("that cannot be made, or read, says so", async () => {
    useFolder(join(useFolder(), "nowhere"));
    await expect(openScratchFile()).rejects.toThrow(/^the temporary file failed: ENOENT/);
    mkdirSync(process.env["TMPDIR"] as string);
    const scratch = await openScratchFile();
    await expect(scratch.read(0, 1)).rejects.toThrow("the temporary file has become shorter");
    await scratch.close();
  });
});
