import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { StoreRefused } from "../../src/store/errors.ts";
import { openSqliteStore, type SqliteStoreOptions } from "../../src/store/sqlite/open.ts";
import type { Store } from "../../src/store/store.ts";
import { findWrong } from "../store-suite/database.ts";
import { by } from "../support/by.ts";
import { seededRandom } from "../support/random.ts";
import { START, temporaryFolder } from "../support/service.ts";
import { rawConnection, tamper } from "../support/sqlite-database.ts";

const open = (path: string, options: Partial<SqliteStoreOptions> = {}): Store =>
  openSqliteStore({
    path,
    timeZone: undefined,
    currencyExponent: undefined,
    clock: () => START,
    random: seededRandom(1),
    ...options,
  });

const newPath = () => join(temporaryFolder(), "topupd.db");

async function madePath(): Promise<string> {
  const path = newPath();
  await open(path).close();
  return path;
}

describe("opening a database", () => {
  test("makes the file, and the folder that holds it", async () => {
    const path = join(temporaryFolder(), "a", "topupd.db");
    await open(path).close();
    expect(existsSync(path)).toBe(true);
  });

  test("makes no longer path of folders, which is sooner misspelt than meant", () => {
    const folder = temporaryFolder();
    expect(() => open(join(folder, "a", "b", "topupd.db"))).toThrow(StoreRefused);
    expect(existsSync(join(folder, "a"))).toBe(false);
  });

  test.skipIf(process.platform === "win32")("makes files that no other user can read", async () => {
    const path = newPath();
    const store = open(path);
    await store.addPartner("wallet", by(START));
    for (const file of [path, `${path}-wal`, `${path}-shm`]) expect(statSync(file).mode & 0o777).toBe(0o600);
    await store.close();
  });

  test("keeps what is there when it is opened again", async () => {
    const path = await madePath();
    const store = open(path);
    await store.addPartner("wallet", by(START));
    await store.close();
    const again = open(path);
    expect(await again.listPartners()).toHaveLength(1);
    await again.close();
  });

  test("applies each migration once, and writes down which", async () => {
    const path = await madePath();
    await open(path).close();
    const rows = rawConnection(path).prepare("SELECT number, name, applied_at FROM schema_migration").all();
    expect(rows).toEqual([{ number: 1, name: "0001_initial.sql", applied_at: START }]);
  });

  test("where it must exist and does not, refuses and makes no file", () => {
    const folder = temporaryFolder();
    const path = join(folder, "topupd.db");
    expect(() => open(path, { mustExist: true })).toThrow(new StoreRefused(`there is no database at ${path}`));
    expect(readdirSync(folder)).toEqual([]);
  });

  test("reads what is there while another process holds the right to write, and waits for nobody", async () => {
    const path = newPath();
    const store = open(path);
    await store.addPartner("wallet", by(START));
    await store.close();
    const other = rawConnection(path);
    other.exec("BEGIN IMMEDIATE");
    const began = performance.now();
    const reader = open(path, { mustExist: true });
    expect(await reader.listPartners()).toHaveLength(1);
    expect(await findWrong(reader)).toEqual([]);
    await reader.exportArchive("go_on", async (chunks) => {
      for await (const chunk of chunks) expect(chunk.kind).toBeDefined();
    });
    await reader.close();
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  test("of what is there as it should be writes nothing, so that no process reads anew what it remembers", async () => {
    const path = newPath();
    const options = { timeZone: "Asia/Kathmandu", currencyExponent: 0, defaultCountry: "NP" };
    await open(path, options).close();
    const other = rawConnection(path);
    const version = () => other.prepare("PRAGMA data_version").get();
    const before = version();
    for (const said of [{}, options]) await open(path, said).close();
    expect(version()).toEqual(before);
    await open(path, { currencyExponent: 2 }).close();
    expect(version()).not.toEqual(before);
  });

  test("where it must exist and does, works", async () => {
    const store = open(await madePath(), { mustExist: true });
    expect(await store.listPartners()).toEqual([]);
    await store.close();
  });

  test("refuses a file that is no database, and leaves it as it is", () => {
    const path = newPath();
    const text = "It was a bright cold day in April. ".repeat(200);
    writeFileSync(path, text);
    expect(() => open(path)).toThrow(/cannot be opened as a database: .*not a database/);
    expect(() => open(path)).toThrow(StoreRefused);
    expect(readFileSync(path, "utf8")).toBe(text);
  });

  test("refuses a folder", () => {
    expect(() => open(temporaryFolder())).toThrow(StoreRefused);
  });

  test("refuses another program's database, and adds nothing to it", () => {
    const path = newPath();
    const other = rawConnection(path);
    other.exec("CREATE TABLE recipe (name TEXT); INSERT INTO recipe VALUES ('dal bhat');");
    expect(() => open(path)).toThrow(new StoreRefused("the file is a database, but not one of topupd"));
    expect(other.prepare("SELECT name FROM sqlite_schema").all()).toEqual([{ name: "recipe" }]);
    expect(other.prepare("SELECT name FROM recipe").all()).toEqual([{ name: "dal bhat" }]);
  });

  test("refuses a database of a newer topupd", async () => {
    const path = await madePath();
    tamper(path, "INSERT INTO schema_migration VALUES (2, '0002_later.sql', 'abc', 1)");
    expect(() => open(path)).toThrow(
      new StoreRefused("the database was made by a newer topupd: use that, or restore a backup"),
    );
  });

  test("refuses a database whose migration was another", async () => {
    const path = await madePath();
    tamper(path, "UPDATE schema_migration SET checksum = 'abc'");
    expect(() => open(path)).toThrow(
      new StoreRefused("migration 0001_initial.sql of the database is not the one of this topupd"),
    );
  });

  test("closing twice is no error", async () => {
    const store = open(newPath());
    await store.close();
    await expect(store.close()).resolves.toBeUndefined();
  });

  test("a store that is closed answers no more pings", async () => {
    const store = open(newPath());
    await store.close();
    await expect(store.ping()).rejects.toThrow();
  });
});
