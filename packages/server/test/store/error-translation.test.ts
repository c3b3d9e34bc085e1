import { describe, expect, test } from "vitest";
import { StoreUnavailable } from "../../src/store/errors.ts";
import { cannotBeOpened, translate } from "../../src/store/sqlite/file.ts";

const DISK_FAILED = "disk input or output failed: check the disk first, the file need not be damaged";
const DAMAGED = "the file is damaged, or the disk cannot read it: check the disk first";

const withCode = (errcode: number) => Object.assign(new Error("as SQLite says it"), { errcode });

describe("an error of SQLite is translated to one of", () => {
  test.each([
    ["the disk: a read that failed", withCode(266), DISK_FAILED],
    ["the disk: a write that failed", withCode(778), DISK_FAILED],
    ["the disk: a flush that failed", withCode(1034), DISK_FAILED],
    ["the disk: one without a code", new Error("disk I/O error"), DISK_FAILED],
    // SQLite uses this code for a malformed page and for a page that the disk could not read (EIO).
    ["the file or the disk: a page that cannot be used", withCode(11), DAMAGED],
    ["the file: another file in its place", withCode(26), "the file is no database any more"],
  ])("%s", (_, error, words) => {
    expect(translate(error)).toEqual(new StoreUnavailable(words));
  });
});

test.each([
  ["a read that SQLite calls malformed", new Error("database disk image is malformed"), DAMAGED],
  ["a read that fails", withCode(266), DISK_FAILED],
  ["a flush of its log that fails", Object.assign(new Error("EIO: i/o error, fsync"), { code: "EIO" }), DISK_FAILED],
  ["another file", new Error("file is not a database"), "file is not a database"],
])("a file that is not opened for %s is reported so", (_, error, words) => {
  expect(cannotBeOpened("topupd.db", error).message).toBe(`topupd.db cannot be opened as a database: ${words}`);
});
