import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { DEFAULT_BASE_PLANS } from "../../src/domain/catalogue.ts";
import { Database } from "../../src/store/sqlite/database.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import { expectRecorded, openProvider, SITA_NET } from "../store-suite/provider.ts";
import { seededRandom } from "../support/random.ts";
import { startSettler } from "../support/settler.ts";
import { makeSqliteDatabase, rawConnection } from "../support/sqlite-database.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** More pages than one checkpoint writes, and fewer than a long log has. */
const STEP_PAGES = 2_500;
const LONG_PAGES = 4_400;
const PAGE_BYTES = 4_096;

const DISK_FAILED = "disk input or output failed: check the disk first, the file need not be damaged";

/** A store whose checkpoint reports go to `heard`, and functions that make its log grow. */
async function openWatched() {
  const path = join(temporaryFolder(), "topupd.db");
  const opened = await openProvider(() => makeSqliteDatabase(path));
  const heard: (string | undefined)[] = [];
  const clock = () => opened.now;
  const { provider } = opened.store;
  const observeCheckpoints = (failure: string | undefined) => heard.push(failure);
  const { socketPath: settlerSocket, ping } = await startSettler({ path, clock, provider, observeCheckpoints });
  const store = await openSqliteStore({
    ...{ path, timeZone: undefined, currencyExponent: undefined, basePlans: DEFAULT_BASE_PLANS },
    ...{ clock, random: seededRandom(9), settlerSocket },
  });
  onTestFinished(() => store.close());
  const raw = rawConnection(path);
  raw.exec("PRAGMA wal_autocheckpoint = 0; CREATE TABLE ballast (bytes BLOB)");
  return {
    ...{ path, ping, heard, raw },
    topUp: async () => {
      expectRecorded(await store.settleTopUp(opened.command(SITA_NET, "NET-1M")));
      // The checkpoint is made two turns after the batch.
      for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      ping();
    },
    growBy: (pages: number) => {
      raw.prepare("INSERT INTO ballast VALUES (zeroblob(?))").run(pages * PAGE_BYTES);
    },
    /** Pages of the log, and how many of them are in the file. */
    log: () => raw.prepare("PRAGMA wal_checkpoint(NOOP)").get() as { log: number; checkpointed: number },
  };
}

/** Makes every checkpoint fail, as if the disk refused writes into the file. */
function failCheckpoints(message: string): () => void {
  const { prepare } = Object.getOwnPropertyDescriptors(Database.prototype);
  const spy = vi.spyOn(Database.prototype, "prepare").mockImplementation(function (this: Database, sql) {
    if (/wal_checkpoint\((PASSIVE|RESTART)\)/.test(sql)) throw new Error(message);
    return (prepare.value as Database["prepare"]).call(this, sql);
  });
  onTestFinished(() => spy.mockRestore());
  return () => spy.mockRestore();
}

describe("a log that cannot be written into the file", () => {
  test("is reported once, and once more when it works again, and top-ups continue", async () => {
    const { heard, topUp, growBy } = await openWatched();
    await topUp();
    const restore = failCheckpoints("disk I/O error");
    await topUp();
    expect(heard).toEqual([]);
    for (let round = 0; round < 3; round += 1) {
      growBy(LONG_PAGES);
      await topUp();
    }
    await vi.waitFor(() => expect(heard).toEqual([DISK_FAILED]));
    restore();
    await topUp();
    await vi.waitFor(() => expect(heard).toEqual([DISK_FAILED, undefined]));
  });

  test("is reported although nothing is settled", async () => {
    const { ping, heard, growBy } = await openWatched();
    failCheckpoints("database or disk is full");
    growBy(LONG_PAGES);
    ping();
    await vi.waitFor(() => expect(heard).toEqual(["the disk is full"]));
  });
});

describe("the log", () => {
  test("goes into the file a part at a time, and restarts before it is long", async () => {
    const { heard, growBy, topUp, log } = await openWatched();
    for (let round = 0; round < 6; round += 1) {
      growBy(STEP_PAGES);
      await topUp();
      await vi.waitFor(() => expect(log().checkpointed).toBeGreaterThan(STEP_PAGES));
    }
    expect(log().log).toBeLessThan(2 * STEP_PAGES);
    expect(heard).toEqual([]);
  });

  test("grows while a view needs its beginning, waits for that view once, and restarts afterwards", async () => {
    const { path, heard, growBy, topUp, log } = await openWatched();
    const reader = rawConnection(path);
    await topUp();
    reader.exec("BEGIN; SELECT count(*) FROM ballast");
    const prepared = vi.spyOn(Database.prototype, "prepare");
    onTestFinished(() => prepared.mockRestore());
    const waited = () => prepared.mock.calls.filter(([sql]) => sql.includes("RESTART")).length;
    growBy(LONG_PAGES);
    for (let round = 0; round < 5; round += 1) await topUp();
    await vi.waitFor(() => expect(waited()).toBe(1));
    growBy(STEP_PAGES);
    for (let round = 0; round < 5; round += 1) await topUp();
    expect(waited()).toBe(1);
    expect(log().log).toBeGreaterThan(LONG_PAGES + STEP_PAGES);

    reader.exec("COMMIT");
    growBy(STEP_PAGES);
    await topUp();
    await vi.waitFor(() => expect(log().checkpointed).toBe(log().log));
    await topUp();
    expect(log().log).toBeLessThan(STEP_PAGES);
    expect(heard).toEqual([]);
  });
});
