import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findWrong } from "../store-suite/database.ts";
import { openProvider, SITA_NET } from "../store-suite/provider.ts";
import { makeSqliteDatabase, rawConnection } from "../support/sqlite-database.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const PAGE_BYTES = 4096;

async function openAndTamper(sql: string): Promise<string[]> {
  const path = join(temporaryFolder(), "topupd.db");
  const { store, topUp, database } = await openProvider(() => makeSqliteDatabase(path));
  await topUp(SITA_NET, "NET-1M");
  expect(await findWrong(store)).toEqual([]);
  await database.tamper(sql);
  return findWrong(store);
}

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

  test("finds a trigger that was taken away", async () => {
    const path = join(temporaryFolder(), "topupd.db");
    const { store } = await openProvider(() => makeSqliteDatabase(path));
    rawConnection(path).exec("DROP TRIGGER top_up_stays");
    expect(await findWrong(store)).toEqual(["tables or triggers are not those of this topupd"]);
  });

  test("has nothing against statistics that an operator has made", async () => {
    const path = join(temporaryFolder(), "topupd.db");
    const { store } = await openProvider(() => makeSqliteDatabase(path));
    rawConnection(path).exec("ANALYZE");
    expect(await findWrong(store)).toEqual([]);
  });

  test("finds a value that the schema forbids", async () => {
    const wrong = await openAndTamper("UPDATE top_up SET amount = -1");
    expect(wrong).toContain("integrity: CHECK constraint failed in top_up");
  });

  test("finds a token whose partner is gone", async () => {
    const orphan = "INSERT INTO access_token VALUES (x'00', 'tok', 99, 'trial', 1, NULL, NULL, NULL)";
    expect(await openAndTamper(orphan)).toEqual(["integrity: a row of access_token refers to nothing"]);
  });

  test("finds a bouquet whose revision is gone", async () => {
    const wrong = await openAndTamper("DELETE FROM catalogue_revision");
    expect(wrong).toContain("integrity: a row of bouquet refers to nothing");
  });

  test("finds an index that does not fit its table", async () => {
    const wrong = await openAndTamper(
      `PRAGMA writable_schema = ON;
       UPDATE sqlite_schema SET sql = replace(sql, '(environment, revision)', '(revision, environment)')
         WHERE name = 'catalogue_revision_by_environment';`,
    );
    expect(wrong).toContainEqual(expect.stringMatching(/^integrity: .*catalogue_revision_by_environment/));
  });
});
