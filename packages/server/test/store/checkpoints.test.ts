import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { Database } from "../../src/store/sqlite/database.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import { expectRecorded, openProvider, SITA_NET } from "../store-suite/provider.ts";
import { otherProcess } from "../support/other-process.ts";
import { seededRandom } from "../support/random.ts";
import { temporaryFolder } from "../support/service.ts";
import { startSettlingHere } from "../support/settling-thread.ts";
import { makeSqliteDatabase, rawConnection } from "../support/sqlite-database.ts";

/** More than goes into the file at a time, and less than makes a log long. */
const STEP_PAGES = 1_500;
const LONG_PAGES = 4_400;
const PAGE_BYTES = 4_096;

const DISK_FAILED = "disk input or output failed: check the disk first, the file need not be damaged";

function growBy(raw: ReturnType<typeof rawConnection>, pages: number): void {
  raw.prepare("INSERT INTO ballast VALUES (zeroblob(?))").run(pages * PAGE_BYTES);
}

/**
 * A store that has told `heard` of its checkpoints, and ways to have its log grow and its disk fail.
 * @param settlesAll whether the thread does; otherwise it is left what comes together.
 */
async function openWatched({ settlesAll = true } = {}) {
  const path = join(temporaryFolder(), "topupd.db");
  const opened = await openProvider(() => makeSqliteDatabase(path));
  const heard: (string | undefined)[] = [];
  const clock = () => opened.now;
  const store = openSqliteStore({
    ...{ path, timeZone: undefined, currencyExponent: undefined, clock, random: seededRandom(9) },
    settlingThread: { start: startSettlingHere(clock), settlesAll },
    observeCheckpoints: (trouble) => heard.push(trouble),
  });
  onTestFinished(() => store.close());
  const raw = rawConnection(path);
  raw.exec("PRAGMA wal_autocheckpoint = 0; CREATE TABLE ballast (bytes BLOB)");
  const settle = async () => expectRecorded(await store.settleTopUp(opened.command(SITA_NET, "NET-1M")));
  return {
    ...{ path, store, heard, raw, settle },
    topUp: async () => {
      await settle();
      await store.ping();
    },
    /** By more than is let be of the log before others are waited for. */
    growLog: () => growBy(raw, LONG_PAGES),
    /** How many pages the log has, and how many of them are in the file. */
    log: () => {
      const { log, checkpointed } = raw.prepare("PRAGMA wal_checkpoint(NOOP)").get() as Record<string, number>;
      return { log, checkpointed };
    },
  };
}

/** No checkpoint works, as where the disk does not take what is written into the file. */
function failCheckpoints(message: string): () => void {
  const failing = /wal_checkpoint\((PASSIVE|RESTART|TRUNCATE)\)/;
  const spies = (["prepare", "exec"] as const).map((method) => {
    const run = Reflect.get(Database.prototype, method) as (this: Database, sql: string) => never;
    return vi.spyOn(Database.prototype, method).mockImplementation(function (this: Database, sql) {
      if (failing.test(sql)) throw new Error(message);
      return run.call(this, sql);
    });
  });
  const restore = () => {
    for (const spy of spies) spy.mockRestore();
  };
  onTestFinished(restore);
  return restore;
}

describe("a log that cannot be written into the file", () => {
  test("is told of once, and once more when it can be again, and top-ups go on", async () => {
    const { heard, topUp, growLog } = await openWatched();
    await topUp();
    const restore = failCheckpoints("disk I/O error");
    await topUp();
    expect(heard).toEqual([]);
    for (let round = 0; round < 3; round += 1) {
      growLog();
      await topUp();
    }
    await vi.waitFor(() => expect(heard).toEqual([DISK_FAILED]));
    restore();
    await topUp();
    await vi.waitFor(() => expect(heard).toEqual([DISK_FAILED, undefined]));
  }, 20_000);

  test("is told of though nothing is settled by the thread", async () => {
    const { store, heard, growLog } = await openWatched();
    failCheckpoints("database or disk is full");
    growLog();
    await store.ping();
    await vi.waitFor(() => expect(heard).toEqual(["the disk is full"]));
  });

  test("is told of as the store is closed", async () => {
    const { store, heard, topUp } = await openWatched();
    await topUp();
    failCheckpoints("disk I/O error");
    await store.close();
    expect(heard).toEqual([DISK_FAILED]);
  });
});

describe("the log", () => {
  test("goes into the file a part at a time, and begins anew without growing long", async () => {
    const { heard, raw, topUp, log } = await openWatched();
    for (let round = 0; round < 6; round += 1) {
      growBy(raw, STEP_PAGES);
      await topUp();
      await vi.waitFor(() => expect(log().checkpointed).toBeGreaterThan(STEP_PAGES));
    }
    expect(log().log).toBeLessThan(2 * STEP_PAGES);
    expect(heard).toEqual([]);
  });

  test("goes into the file also where top-ups come one by one, and the thread settles none", async () => {
    const { raw, settle, log } = await openWatched({ settlesAll: false });
    growBy(raw, STEP_PAGES);
    expect(log().log).toBeGreaterThan(STEP_PAGES);
    for (let topUp = 0; topUp < 40; topUp += 1) await settle();
    await vi.waitFor(async () => {
      await settle();
      expect(log().log).toBeLessThan(STEP_PAGES);
    });
  });

  test("grows while somebody reads what it began with, who is waited for once, and begins anew afterwards", async () => {
    const { path, heard, raw, topUp, log } = await openWatched();
    const reader = rawConnection(path);
    await topUp();
    reader.exec("BEGIN; SELECT count(*) FROM ballast");
    const restarts = vi.spyOn(Database.prototype, "prepare");
    const waited = () => restarts.mock.calls.filter(([sql]) => sql.includes("RESTART")).length;
    growBy(raw, LONG_PAGES);
    for (let round = 0; round < 5; round += 1) await topUp();
    await vi.waitFor(() => expect(waited()).toBe(1));
    growBy(raw, STEP_PAGES);
    for (let round = 0; round < 5; round += 1) await topUp();
    expect(waited()).toBe(1);
    expect(log().log).toBeGreaterThan(LONG_PAGES + STEP_PAGES);

    reader.exec("COMMIT");
    growBy(raw, STEP_PAGES);
    await topUp();
    await vi.waitFor(() => expect(log().checkpointed).toBe(log().log));
    await topUp();
    expect(log().log).toBeLessThan(STEP_PAGES);
    expect(heard).toEqual([]);
  });
});

test("a log that others have taken up by an index of their own is not written into the file", async () => {
  const { path, store, heard, growLog } = await openWatched();
  growLog();
  rmSync(`${path}-shm`);
  await otherProcess(path).ask("SELECT count(*) FROM ballast");
  const before = statSync(path);
  await expect(store.concludeCheckout("x".repeat(64))).rejects.toThrow("moved, replaced or removed");
  await expect(store.ping()).rejects.toThrow("moved, replaced or removed");
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect([statSync(path).size, statSync(path).mtimeMs]).toEqual([before.size, before.mtimeMs]);
  expect(heard).toEqual([]);
});
