import { mkdirSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { countOpenFiles } from "../src/open-files.ts";
import { temporaryFolder } from "./support/service.ts";

const limitsOf = (soft: string) =>
  [
    "Limit                     Soft Limit           Hard Limit           Units     ",
    "Max cpu time              unlimited            unlimited            seconds   ",
    `Max open files            ${soft.padEnd(20)} 524288               files     `,
    "Max locked memory         8388608              8388608              bytes     ",
  ].join("\n");

function processWith(limits: string | undefined): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "fd"));
  // The last is the one that reading the folder takes.
  for (const name of ["0", "1", "2", "17"]) writeFileSync(join(folder, "fd", name), "");
  if (limits !== undefined) writeFileSync(join(folder, "limits"), limits);
  return folder;
}

test("what a process has open is counted, and its own limit is told, not that to which it could raise it", () => {
  expect(countOpenFiles(processWith(limitsOf("65536")))).toEqual({ open: 3, most: 65_536 });
});

test("where the system does not say, or knows no limit, nothing is told", () => {
  expect(countOpenFiles(join(temporaryFolder(), "nothing"))).toBeUndefined();
  expect(countOpenFiles(processWith(undefined))).toBeUndefined();
  expect(countOpenFiles(processWith("Max cpu time unlimited"))).toBeUndefined();
  expect(countOpenFiles(processWith(limitsOf("unlimited")))).toBeUndefined();
});

test.runIf(process.platform === "linux")("on Linux, files that are opened are counted", async () => {
  const before = countOpenFiles();
  const path = join(temporaryFolder(), "file");
  writeFileSync(path, "");
  const files = await Promise.all(Array.from({ length: 50 }, () => open(path)));
  const after = countOpenFiles();
  await Promise.all(files.map((file) => file.close()));
  // Others of this process may come and go meanwhile.
  expect((after?.open ?? 0) - (before?.open ?? 0)).toBeGreaterThan(40);
  expect(after?.most).toBe(before?.most);
  expect(after?.most).toBeGreaterThan(after?.open ?? 0);
});
