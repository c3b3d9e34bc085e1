import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findWrong } from "../store-suite/database.ts";
import { openProvider, SITA_NET } from "../store-suite/provider.ts";
import { makeSqliteDatabase, rawConnection } from "../support/sqlite-database.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const PAGE_BYTES = 4096;

describe("check of a SQLite file", () => {
  test("finds a page that the disk has lost", async () => {
    const path = join(temporaryFolder(), "topupd.db");
    const { store, another } = await openProvider(() => makeSqliteDatabase(path));
    const raw = rawConnection(path);
    const { rootpage } = raw.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'top_up'").get();
    raw.close();
    await store.close();
    const file = openSync(path, "r+");
    writeSync(file, Buffer.alloc(PAGE_BYTES, 0xee), 0, PAGE_BYTES, (rootpage - 1) * PAGE_BYTES);
    closeSync(file);
    const wrong = await findWrong(await another());
    expect(wrong.length).toBeGreaterThan(0);
    expect(wrong[0]).toMatch(/^integrity: /);
  });

  test("finds a trigger that was taken away, and has nothing against statistics", async () => {
    const path = join(temporaryFolder(), "topupd.db");
    const { store } = await openProvider(() => makeSqliteDatabase(path));
    rawConnection(path).exec("ANALYZE");
    expect(await findWrong(store)).toEqual([]);
    rawConnection(path).exec("DROP TRIGGER top_up_stays");
    expect(await findWrong(store)).toEqual(["tables or triggers are not those of this topupd"]);
  });

  test.each([
    ["a value that the schema forbids", "UPDATE top_up SET amount = -1", "CHECK constraint failed in top_up"],
    [
      "a token whose partner is gone",
      "INSERT INTO access_token VALUES (x'00', 'tok', 99, 'trial', 1, NULL, NULL, NULL)",
      "a row of access_token refers to nothing",
    ],
    ["a bouquet whose revision is gone", "DELETE FROM catalogue_revision", "a row of bouquet refers to nothing"],
    [
      "an index that does not fit its table",
      `PRAGMA writable_schema = ON;
       UPDATE sqlite_schema SET sql = replace(sql, '(environment, revision)', '(revision, environment)')
         WHERE name = 'catalogue_revision_by_environment';`,
      "catalogue_revision_by_environment",
    ],
  ])("finds %s", async (_, damage, said) => {
    const path = join(temporaryFolder(), "topupd.db");
    const { store, topUp, database } = await openProvider(() => makeSqliteDatabase(path));
    await topUp(SITA_NET, "NET-1M");
    expect(await findWrong(store)).toEqual([]);
    await database.tamper(damage);
    const wrong = (await findWrong(store)).filter((each) => each.startsWith("integrity: "));
    expect(wrong.join("\n")).toContain(said);
  });
});
