import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { DEFAULT_BASE_PLANS } from "../../src/domain/catalogue.ts";
import { StoreRefused } from "../../src/store/errors.ts";
import { openSqliteStore, type SqliteStoreOptions } from "../../src/store/sqlite/open.ts";
import type { Store } from "../../src/store/store.ts";
import { findWrong, START } from "../store-suite/database.ts";
import { by } from "../support/by.ts";
import { partnersOf } from "../support/partners.ts";
import { seededRandom } from "../support/random.ts";
import { rawConnection, tamper } from "../support/sqlite-database.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const open = (path: string, options: Partial<SqliteStoreOptions> = {}): Promise<Store> =>
  openSqliteStore({
    path,
    timeZone: undefined,
    currencyExponent: undefined,
    basePlans: DEFAULT_BASE_PLANS,
    clock: () => START,
    random: seededRandom(1),
    ...options,
  });

const newPath = () => join(temporaryFolder(), "topupd.db");

async function madePath(): Promise<string> {
  const path = newPath();
  await (await open(path)).close();
  return path;
}

describe("opening a database", () => {
  test("makes the file, and the folder that holds it", async () => {
    const path = join(temporaryFolder(), "a", "topupd.db");
    await (await open(path)).close();
    expect(existsSync(path)).toBe(true);
  });

  test("makes no longer path of folders, which is sooner misspelt than meant", async () => {
    const folder = temporaryFolder();
    await expect(open(join(folder, "a", "b", "topupd.db"))).rejects.toThrow(StoreRefused);
    expect(existsSync(join(folder, "a"))).toBe(false);
  });

  test.skipIf(process.platform === "win32")("makes files that no other user can read", async () => {
    const path = newPath();
    const store = await open(path);
    await partnersOf(store).add("wallet", by(START));
    for (const file of [path, `${path}-wal`, `${path}-shm`]) expect(statSync(file).mode & 0o777).toBe(0o600);
    await store.close();
  });

  test("keeps the data when it is opened again", async () => {
    const path = newPath();
    const store = await open(path);
    await partnersOf(store).add("wallet", by(START));
    await store.close();
    const again = await open(path, { mustExist: true });
    expect(await partnersOf(again).list()).toHaveLength(1);
    await again.close();
  });

  test("applies each migration once, and writes down which", async () => {
    const path = await madePath();
    await (await open(path)).close();
    const rows = rawConnection(path).prepare("SELECT number, name, applied_at FROM schema_migration").all();
    expect(rows).toEqual([{ number: 1, name: "0001_initial.sql", applied_at: START }]);
  });

  test("refuses and makes no file if the file must exist and does not", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "topupd.db");
    await expect(open(path, { mustExist: true })).rejects.toThrow(new StoreRefused(`there is no database at ${path}`));
    expect(readdirSync(folder)).toEqual([]);
  });

  test("reads the data without waiting while another process holds the write lock", async () => {
    const path = newPath();
    const store = await open(path);
    await partnersOf(store).add("wallet", by(START));
    await store.close();
    const other = rawConnection(path);
    other.exec("BEGIN IMMEDIATE");
    const began = performance.now();
    const reader = await open(path, { mustExist: true });
    expect(await partnersOf(reader).list()).toHaveLength(1);
    expect(await findWrong(reader)).toEqual([]);
    await reader.exportArchive("go_on", async (chunks) => {
      for await (const chunk of chunks) expect(chunk.kind).toBeDefined();
    });
    await reader.close();
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  test("of a file that is up to date writes nothing, so that no process clears its cache", async () => {
    const path = newPath();
    const options = { timeZone: "Asia/Kathmandu", currencyExponent: 0, defaultCountry: "NP" };
    await (await open(path, options)).close();
    const other = rawConnection(path);
    const version = () => other.prepare("PRAGMA data_version").get();
    const before = version();
    for (const said of [{}, options]) await (await open(path, said)).close();
    expect(version()).toEqual(before);
    await (await open(path, { currencyExponent: 2 })).close();
    expect(version()).not.toEqual(before);
  });

  test("refuses a folder, and a file that is no database, and leaves it as it is", async () => {
    const path = newPath();
    const text = "It was a bright cold day in April. ".repeat(200);
    writeFileSync(path, text);
    await expect(open(path)).rejects.toThrow(/cannot be opened as a database: .*not a database/);
    expect(readFileSync(path, "utf8")).toBe(text);
    await expect(open(temporaryFolder())).rejects.toThrow(StoreRefused);
  });

  test("refuses another program's database, and adds nothing to it", async () => {
    const path = newPath();
    const other = rawConnection(path);
    other.exec("CREATE TABLE recipe (name TEXT); INSERT INTO recipe VALUES ('dal bhat');");
    await expect(open(path)).rejects.toThrow(new StoreRefused("the file is a database, but not one of topupd"));
    expect(other.prepare("SELECT name FROM sqlite_schema").all()).toEqual([{ name: "recipe" }]);
    expect(other.prepare("SELECT name FROM recipe").all()).toEqual([{ name: "dal bhat" }]);
  });

  test.each([
    [
      "of a newer topupd",
      "INSERT INTO schema_migration VALUES (2, '0002_later.sql', 'abc', 1)",
      "the database was made by a newer topupd: use that, or restore a backup made before the upgrade",
    ],
    [
      "of a development version",
      "UPDATE schema_migration SET checksum = 'abc'",
      "the database was made before the first release of topupd and cannot be opened",
    ],
  ])("refuses a database %s", async (_, damage, said) => {
    const path = await madePath();
    tamper(path, damage);
    await expect(open(path)).rejects.toThrow(new StoreRefused(said));
  });

  test("closing twice is no error, and a store that is closed answers no more pings", async () => {
    const store = await open(newPath());
    await store.close();
    await expect(store.close()).resolves.toBeUndefined();
    await expect(store.ping()).rejects.toThrow();
  });
});
