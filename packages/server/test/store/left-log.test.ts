import { copyFileSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { flushAnew } from "../../src/store/sqlite/left-log.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import { otherProcess } from "../support/other-process.ts";
import { seededRandom } from "../support/random.ts";
import { prepareTopUp, START, startTestService, temporaryFolder } from "../support/service.ts";

vi.mock("../../src/store/sqlite/left-log.ts", { spy: true });

const FIBER = { cuid: "1000001", service: "internet", reqId: "trial1" };
const LONG_AGO = new Date(1_000);

function open(path: string) {
  const none = { timeZone: undefined, currencyExponent: undefined };
  const store = openSqliteStore({ path, ...none, clock: () => START, random: seededRandom(2) });
  onTestFinished(() => store.close());
  return store;
}

/** A top-up that is in the log alone, and the three files as a process leaves them that is killed before the flush. */
async function killedAfterTopUp() {
  const service = await startTestService();
  const purchase = await prepareTopUp(service, FIBER);
  expect((await service.call("subscription-package-topup", purchase)).status).toBe(200);
  const path = join(temporaryFolder(), "topupd.db");
  for (const suffix of ["", "-wal", "-shm"]) copyFileSync(service.path + suffix, path + suffix);
  return { path, checkoutId: String(purchase.checkoutId) };
}

test("a top-up that a killed process left in the log outlives that log once it is answered", async () => {
  const { path, checkoutId } = await killedAfterTopUp();
  expect(await open(path).findTransaction(checkoutId)).toMatchObject({ checkoutId });
  // Before its commits went into the file, as a power cut meanwhile would else take the pages that the file lacked yet.
  expect(flushAnew).toHaveBeenCalledWith(`${path}-wal`);
  const fileAlone = join(temporaryFolder(), "topupd.db");
  copyFileSync(path, fileAlone);
  expect(await open(fileAlone).findTransaction(checkoutId)).toMatchObject({ checkoutId });
});

test("a log that another process has open is left to it", async () => {
  const { path, checkoutId } = await killedAfterTopUp();
  await otherProcess(path).ask("SELECT count(*) AS count FROM partner");
  utimesSync(`${path}-wal`, LONG_AGO, LONG_AGO);
  expect(await open(path).findTransaction(checkoutId)).toMatchObject({ checkoutId });
  expect(statSync(`${path}-wal`).mtime).toEqual(LONG_AGO);
});

test("a log is written again to its last byte, however long it is", () => {
  const log = join(temporaryFolder(), "topupd.db-wal");
  const bytes = Buffer.from(Array.from({ length: 2_500_000 }, (_, at) => (at * 7) % 251));
  writeFileSync(log, bytes);
  utimesSync(log, LONG_AGO, LONG_AGO);
  flushAnew(log);
  expect(readFileSync(log).equals(bytes)).toBe(true);
  expect(statSync(log).mtimeMs).toBeGreaterThan(LONG_AGO.getTime());
});
