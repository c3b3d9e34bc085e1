import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openTestService, prepareTopUp, START, startTestService, temporaryFolder } from "../support/service.ts";

const FIBER = { cuid: "1000001", service: "internet", reqId: "trial1" };

/**
 * From another process: in this one, closing the file would drop the locks that SQLite holds on it.
 */
function overwrite(target: string, source: string): void {
  const script =
    "const [, target, source] = process.argv, fs = require('fs'); const file = fs.openSync(target, 'r+'); fs.writeSync(file, fs.readFileSync(source), 0, undefined, 0); fs.closeSync(file)";
  execFileSync(process.execPath, ["-e", script, target, source]);
}

/*
 * A process that is killed inside the flush of its commit leaves the commit in the write-ahead log, whole,
 * but not in the index by which others read the log. They do not see it, and recovery would. The test
 * makes that state by putting the index back to what it was before the commit.
 */
test("a commit that was interrupted does not land once a partner was told that it never will", async () => {
  const folder = temporaryFolder();
  const path = join(folder, "topupd.db");
  const service = await startTestService({ path });
  const killed = await openTestService({ path, now: START, bare: true, seed: 2 });
  const purchase = await prepareTopUp(service, FIBER);

  copyFileSync(`${path}-shm`, join(folder, "index-before"));
  expect((await killed.call("subscription-package-topup", purchase, { token: service.trialToken })).status).toBe(200);
  overwrite(`${path}-shm`, join(folder, "index-before"));
  const { checkoutId } = purchase;
  expect((await service.call("txn-status", { checkoutId })).json.body.reason).toBe("not_topped_up");

  service.now = START + 360_001;
  expect((await service.call("txn-status", { checkoutId })).json.body.reason).toBe("never_topped_up");

  // A copy of the two files without the index is what a restart after a crash finds.
  for (const suffix of ["", "-wal"]) copyFileSync(path + suffix, join(folder, `crashed.db${suffix}`));
  expect(existsSync(join(folder, "crashed.db-shm"))).toBe(false);
  const recovered = await startTestService({ path: join(folder, "crashed.db"), now: service.now, bare: true, seed: 3 });
  const again = await recovered.call("txn-status", { checkoutId }, { token: service.trialToken });
  expect(again.json.body.reason).toBe("never_topped_up");
  for await (const event of recovered.store.check()) expect(event.kind, event.what).toBe("checked");
  await killed.app.close();
});
