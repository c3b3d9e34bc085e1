import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createTemporaryFile } from "../../src/system/files.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test("a temporary file has no name, so that nothing stays of it when its process is killed, and is read as often as needed", async () => {
  const folder = temporaryFolder();
  const file = createTemporaryFile(join(folder, "file"));
  const pieces = ["a".repeat(100_000), "b"];
  let seen: string[] = [];
  await file.write(
    (async function* () {
      for (const piece of pieces) {
        seen = readdirSync(folder);
        yield Buffer.from(piece);
      }
    })(),
  );
  expect([seen, readdirSync(folder)]).toEqual([[], []]);
  for (let reading = 0; reading < 2; reading += 1) {
    const read: Uint8Array[] = [];
    for await (const piece of file.open()) read.push(piece);
    expect(Buffer.concat(read).toString()).toBe(pieces.join(""));
  }
  await file.remove();
});
