import { execFileSync } from "node:child_process";
import fs, { copyFileSync, existsSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { CHECKOUT_VALID_MS } from "../../src/domain/checkout.ts";
import { rewriteLog } from "../../src/store/sqlite/file.ts";
import type { Store } from "../../src/store/store.ts";
import { findWrong } from "../store-suite/database.ts";
import { expectRecorded, openProvider, SITA_NET } from "../store-suite/provider.ts";
import { otherProcess } from "../support/other-process.ts";
import { seededRandom } from "../support/random.ts";
import { makeSqliteDatabase } from "../support/sqlite-database.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const LONG_AGO = new Date(1_000);

/** A top-up that is only in the write-ahead log, and the files of a process killed before the flush. */
async function killedAfterTopUp() {
  const running = join(temporaryFolder(), "topupd.db");
  const opened = await openProvider(() => makeSqliteDatabase(running));
  const { checkoutId } = await opened.topUp(SITA_NET, "NET-1M");
  const path = join(temporaryFolder(), "topupd.db");
  for (const suffix of ["", "-wal", "-shm"]) copyFileSync(running + suffix, path + suffix);
  const open = async (file: string): Promise<Store> => {
    const store = await makeSqliteDatabase(file).open({
      ...{ clock: () => opened.now, random: seededRandom(2), basePlans: opened.store.provider.basePlans },
    });
    onTestFinished(() => store.close());
    return store;
  };
  return { path, checkoutId, open };
}

/** Watches files that Node opens; SQLite opens its own. */
function watchOpening() {
  const opened = vi.spyOn(fs, "openSync");
  syncBuiltinESMExports();
  onTestFinished(() => {
    opened.mockRestore();
    syncBuiltinESMExports();
  });
  return opened;
}

test("a top-up that a killed process left in the log outlives that log once it is answered", async () => {
  const { path, checkoutId, open } = await killedAfterTopUp();
  const opened = watchOpening();
  const store = await open(path);
  expect(await store.findTransaction(checkoutId)).toMatchObject({ checkoutId });
  // The log is flushed before its commits go into the file: a power cut in between would lose pages.
  expect(opened).toHaveBeenCalledWith(`${path}-wal`, "r+");
  const fileAlone = join(temporaryFolder(), "topupd.db");
  copyFileSync(path, fileAlone);
  expect(await (await open(fileAlone)).findTransaction(checkoutId)).toMatchObject({ checkoutId });
});

test("the log of a file that is opened by a link is that of the file", async () => {
  const { path, checkoutId, open } = await killedAfterTopUp();
  const opened = watchOpening();
  const link = join(temporaryFolder(), "link.db");
  symlinkSync(path, link);
  expect(await (await open(link)).findTransaction(checkoutId)).toMatchObject({ checkoutId });
  expect(opened).toHaveBeenCalledWith(`${path}-wal`, "r+");
});

test("a log that another process has open is left to it", async () => {
  const { path, checkoutId, open } = await killedAfterTopUp();
  await otherProcess(path).ask("SELECT count(*) AS count FROM partner");
  utimesSync(`${path}-wal`, LONG_AGO, LONG_AGO);
  expect(await (await open(path)).findTransaction(checkoutId)).toMatchObject({ checkoutId });
  expect(statSync(`${path}-wal`).mtime).toEqual(LONG_AGO);
});

test("a log is written again to its last byte, however long it is", () => {
  const log = join(temporaryFolder(), "topupd.db-wal");
  const bytes = Buffer.from(Array.from({ length: 2_500_000 }, (_, at) => (at * 7) % 251));
  writeFileSync(log, bytes);
  utimesSync(log, LONG_AGO, LONG_AGO);
  rewriteLog(log);
  expect(readFileSync(log).equals(bytes)).toBe(true);
  expect(statSync(log).mtimeMs).toBeGreaterThan(LONG_AGO.getTime());
});

/** Runs in another process: closing the file in this one would drop SQLite's locks on it. */
function overwrite(target: string, source: string): void {
  const script =
    "const [, target, source] = process.argv, fs = require('fs'); const file = fs.openSync(target, 'r+'); fs.writeSync(file, fs.readFileSync(source), 0, undefined, 0); fs.closeSync(file)";
  execFileSync(process.execPath, ["-e", script, target, source]);
}

/*
 * A process killed during the flush of a commit leaves a whole commit in the write-ahead log, but not in the log's index.
 * Other processes do not see the commit, but recovery would. The test makes this state by restoring the earlier index.
 */
test("an interrupted commit does not appear after a partner got never_topped_up", async () => {
  const folder = temporaryFolder();
  const path = join(folder, "topupd.db");
  const opened = await openProvider(() => makeSqliteDatabase(path));
  const killed = await opened.another();
  const command = opened.command(SITA_NET, "NET-1M");

  copyFileSync(`${path}-shm`, join(folder, "index-before"));
  expectRecorded(await killed.settleTopUp(command));
  overwrite(`${path}-shm`, join(folder, "index-before"));
  expect(await opened.store.findTransaction(command.checkoutId)).toBeUndefined();

  opened.now += CHECKOUT_VALID_MS + 60_001;
  expect(await opened.store.concludeCheckout(command.checkoutId)).toBeUndefined();

  // A copy of the two files without the index is what a restart after a crash finds.
  const crashed = join(folder, "crashed.db");
  for (const suffix of ["", "-wal"]) copyFileSync(path + suffix, crashed + suffix);
  expect(existsSync(`${crashed}-shm`)).toBe(false);
  const { provider } = opened.store;
  const recovered = await makeSqliteDatabase(crashed).open({
    ...{ clock: () => opened.now, random: seededRandom(3), basePlans: provider.basePlans },
  });
  onTestFinished(() => recovered.close());
  expect(await recovered.findOutcome(command.checkoutId)).toEqual({ retiredAt: opened.now });
  expect(await findWrong(recovered)).toEqual([]);
});
