import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { CHECKOUT_VALID_MS } from "../../src/domain/checkout.ts";
import { findWrong } from "../store-suite/database.ts";
import { expectRecorded, openProvider, SITA_NET } from "../store-suite/provider.ts";
import { seededRandom } from "../support/random.ts";
import { makeSqliteDatabase } from "../support/sqlite-database.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

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
