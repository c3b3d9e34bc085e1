import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { DEFAULT_BASE_PLANS } from "../../src/domain/catalogue.ts";
import { StoreRefused, StoreUnavailable } from "../../src/store/errors.ts";
import { Database } from "../../src/store/sqlite/database.ts";
import { openSqliteStore, type SqliteStoreOptions } from "../../src/store/sqlite/open.ts";
import { expectRecorded, openProvider, SITA_NET } from "../store-suite/provider.ts";
import { by } from "../support/by.ts";
import { partnersOf } from "../support/partners.ts";
import { seededRandom } from "../support/random.ts";
import { startSettler } from "../support/settler.ts";
import { makeSqliteDatabase, rawConnection } from "../support/sqlite-database.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const newPath = () => join(temporaryFolder(), "topupd.db");

function openDatabase(path = newPath()): Database {
  const database = new Database(path, { mustExist: false });
  onTestFinished(() => database.close());
  return database;
}

async function open(path: string, more: Partial<SqliteStoreOptions> = {}) {
  const settings = { timeZone: undefined, currencyExponent: undefined, basePlans: DEFAULT_BASE_PLANS };
  const store = await openSqliteStore({ path, ...settings, clock: () => 1, random: seededRandom(1), ...more });
  onTestFinished(() => store.close());
  return store;
}

describe("durability", () => {
  test("a new database writes ahead and flushes each commit", () => {
    const database = openDatabase();
    expect(() => database.verifyDurability()).not.toThrow();
    expect(database.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
    expect(database.prepare("PRAGMA synchronous").get()).toEqual({ synchronous: 2 });
  });

  test.each(["DELETE", "TRUNCATE", "PERSIST"])("a database with journal_mode=%s is refused", (mode) => {
    const database = openDatabase();
    database.exec(`PRAGMA journal_mode = ${mode}`);
    expect(() => database.verifyDurability()).toThrow(
      new StoreRefused(
        `the database has journal_mode=${mode.toLowerCase()}, and cannot be put into write-ahead logging`,
      ),
    );
  });

  test.each([
    ["OFF", 0],
    ["NORMAL", 1],
  ])("a database with synchronous=%s is refused", (level, number) => {
    const database = openDatabase();
    database.exec(`PRAGMA synchronous = ${level}`);
    expect(() => database.verifyDurability()).toThrow(
      new StoreRefused(`the database has synchronous=${number}, not FULL`),
    );
  });

  test.each([":memory:", "file::memory:"])("a database in memory, %s, is refused and leaves no file", (path) => {
    expect(() => openDatabase(path)).toThrow(StoreRefused);
    expect(existsSync(path)).toBe(false);
  });

  test("a database that turns out not to be durable is not opened", async () => {
    // SQLite reports no error on a disk without write-ahead logging, and this machine has no such disk.
    const verify = vi.spyOn(Database.prototype, "verifyDurability").mockImplementation(() => {
      throw new StoreRefused("not durable");
    });
    onTestFinished(() => verify.mockRestore());
    await expect(open(newPath())).rejects.toThrow(new StoreRefused("not durable"));
  });

  test("every connection that settles or makes staff's changes flushes each commit", async () => {
    const path = newPath();
    const opened = await openProvider(() => makeSqliteDatabase(path));
    const clock = () => opened.now;
    const settler = await startSettler({ path, clock, provider: opened.store.provider });
    const store = await open(path, { clock, settlerSocket: settler.socketPath });
    const writes = [vi.spyOn(Database.prototype, "write"), vi.spyOn(Database.prototype, "beginWriting")];
    onTestFinished(() => {
      for (const write of writes) write.mockRestore();
    });
    expectRecorded(await opened.store.settleTopUp(opened.command(SITA_NET, "NET-1M")));
    expectRecorded(await store.settleTopUp(opened.command(SITA_NET, "NET-1M")));
    await partnersOf(store).add("bank", by(opened.now));
    const connections = new Set(writes.flatMap((write) => write.mock.contexts as Database[]));
    expect(connections.size).toBe(3);
    for (const connection of connections) expect(() => connection.verifyDurability()).not.toThrow();
  });

  test("a file without write-ahead logging is put into it", async () => {
    const path = newPath();
    rawConnection(path).exec("PRAGMA journal_mode = DELETE; PRAGMA user_version = 1;");
    await open(path);
    expect(rawConnection(path).prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
  });

  test("a file that another program keeps from write-ahead logging is not opened", async () => {
    const path = newPath();
    const other = rawConnection(path);
    other.exec("PRAGMA journal_mode = DELETE; PRAGMA user_version = 1;");
    other.exec("BEGIN; SELECT count(*) FROM sqlite_schema;");
    await expect(open(path)).rejects.toThrow(StoreUnavailable);
    other.exec("ROLLBACK");
    await open(path);
  });
});
