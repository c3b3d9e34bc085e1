import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { countOpenFiles } from "../../src/metrics/process-figures.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

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
  // The last one is opened by reading the folder.
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
