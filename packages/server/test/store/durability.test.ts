import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { StoreRefused, StoreUnavailable } from "../../src/store/errors.ts";
import { Database } from "../../src/store/sqlite/database.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import { expectRecorded, openProvider, SITA_NET } from "../store-suite/provider.ts";
import { seededRandom } from "../support/random.ts";
import { temporaryFolder } from "../support/service.ts";
import { startSettlingHere } from "../support/settling-thread.ts";
import { makeSqliteDatabase, rawConnection } from "../support/sqlite-database.ts";

function openDatabase(path = join(temporaryFolder(), "topupd.db")): Database {
  return new Database(path, { mustExist: false });
}

describe("durability", () => {
  test("a new database writes ahead and flushes each commit", () => {
    const database = openDatabase();
    expect(() => database.verifyDurability()).not.toThrow();
    expect(database.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
    expect(database.prepare("PRAGMA synchronous").get()).toEqual({ synchronous: 2 });
    database.close();
  });

  test.each(["DELETE", "TRUNCATE", "PERSIST"])("a database with journal_mode=%s is refused", (mode) => {
    const database = openDatabase();
    database.exec(`PRAGMA journal_mode = ${mode}`);
    expect(() => database.verifyDurability()).toThrow(
      new StoreRefused(
        `the database has journal_mode=${mode.toLowerCase()}, and cannot be put into write-ahead logging`,
      ),
    );
    database.close();
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
    database.close();
  });

  test.each([":memory:", "file::memory:"])("a database in memory, %s, is refused and leaves no file", (path) => {
    expect(() => openDatabase(path)).toThrow(StoreRefused);
    expect(existsSync(path)).toBe(false);
  });

  test("a database that turns out not to be durable is not opened", () => {
    // SQLite reports no error on a disk on which it cannot write ahead, and none can be had here.
    const verify = vi.spyOn(Database.prototype, "verifyDurability").mockImplementation(() => {
      throw new StoreRefused("not durable");
    });
    onTestFinished(() => verify.mockRestore());
    expect(() => open(join(temporaryFolder(), "topupd.db"))).toThrow(new StoreRefused("not durable"));
  });

  test("a service settles by connections that still flush each commit, here and in its thread", async () => {
    const path = join(temporaryFolder(), "topupd.db");
    const opened = await openProvider(() => makeSqliteDatabase(path));
    const clock = () => opened.now;
    const settings = { timeZone: undefined, currencyExponent: undefined, random: seededRandom(9) };
    const settlingThread = { start: startSettlingHere(clock) };
    const store = openSqliteStore({ ...settings, path, clock, settlingThread });
    onTestFinished(() => store.close());
    const write = vi.spyOn(Database.prototype, "write");
    onTestFinished(() => write.mockRestore());
    const topUp = async () => expectRecorded(await store.settleTopUp(opened.command(SITA_NET, "NET-1M")));
    // Alone, it is settled here; two that come together, in the thread.
    await topUp();
    await Promise.all([topUp(), topUp()]);
    const connections = new Set(write.mock.contexts as Database[]);
    expect(connections.size).toBe(2);
    for (const connection of connections) expect(() => connection.verifyDurability()).not.toThrow();
  });

  test("a file without write-ahead logging is put into it", async () => {
    const path = join(temporaryFolder(), "topupd.db");
    rawConnection(path).exec("PRAGMA journal_mode = DELETE; PRAGMA user_version = 1;");
    await open(path).close();
    expect(rawConnection(path).prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
  });

  test("a file that another program keeps from write-ahead logging is not opened", async () => {
    const path = join(temporaryFolder(), "topupd.db");
    const other = rawConnection(path);
    other.exec("PRAGMA journal_mode = DELETE; PRAGMA user_version = 1;");
    other.exec("BEGIN; SELECT count(*) FROM sqlite_schema;");
    expect(() => open(path)).toThrow(StoreUnavailable);
    other.exec("ROLLBACK");
    await open(path).close();
  });
});

function open(path: string) {
  const settings = { timeZone: undefined, currencyExponent: undefined };
  return openSqliteStore({ path, ...settings, clock: () => 1, random: seededRandom(1) });
}
