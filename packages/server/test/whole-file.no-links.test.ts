import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { writeWholeFile } from "../src/whole-file.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

// As on a memory stick.
vi.mock("node:fs/promises", async (original) => ({
  ...(await original<typeof import("node:fs/promises")>()),
  link: () => Promise.reject(Object.assign(new Error("operation not permitted"), { code: "EPERM" })),
}));

test("a file gets its name where the file system knows no links", async () => {
  const folder = temporaryFolder();
  await writeWholeFile(join(folder, "file"), pieces(), { overwrite: false, suffix: "abc" });
  expect(readdirSync(folder)).toEqual(["file"]);
  expect(readFileSync(join(folder, "file"), "utf8")).toBe("one");
});

test("a file that is there stays where the file system knows no links", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "file"), "former");
  const written = writeWholeFile(join(folder, "file"), pieces(), { overwrite: false, suffix: "abc" });
  await expect(written).rejects.toMatchObject({ code: "EEXIST" });
  expect(readFileSync(join(folder, "file"), "utf8")).toBe("former");
  expect(readdirSync(folder)).toEqual(["file"]);
});

async function* pieces(): AsyncGenerator<Uint8Array> {
  yield Buffer.from("one");
}
