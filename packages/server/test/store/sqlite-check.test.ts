import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findCustomer } from "../../src/store/customers.ts";
import { findWrong } from "../store-suite/database.ts";
import { importRows, openProvider, RAM_NET, SITA, SITA_NET } from "../store-suite/provider.ts";
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

/* In SQLite each entry points to the one before it. These tests check the pointers; the store suite checks the content. */

const NEWEST = `(SELECT max(id) FROM ledger_entry WHERE cuid = '${SITA_NET.cuid}')`;

test.each([
  [
    "passes over an entry",
    `UPDATE ledger_entry SET previous = (SELECT previous FROM ledger_entry AS e WHERE e.id = ledger_entry.previous) WHERE id = ${NEWEST}`,
  ],
  ["ends too early", `UPDATE ledger_entry SET previous = NULL WHERE id = ${NEWEST}`],
  [
    "leads into another's",
    `UPDATE ledger_entry SET previous = (SELECT max(id) FROM ledger_entry WHERE cuid = '${RAM_NET.cuid}') WHERE id = ${NEWEST}`,
  ],
  [
    "begins at one before the last",
    `UPDATE subscription SET last_entry = (SELECT previous FROM ledger_entry WHERE id = last_entry) WHERE last_entry = ${NEWEST}`,
  ],
])("a check finds a ledger that %s", async (_, damage) => {
  const { store, database, topUp } = await openProvider(() => makeSqliteDatabase());
  for (const key of [SITA_NET, RAM_NET, SITA_NET, RAM_NET, SITA_NET]) await topUp(key, "NET-1M");
  expect(await findWrong(store)).toEqual([]);
  await database.tamper(damage);
  expect(await findWrong(store)).not.toEqual([]);
});

/** Any text without control characters and lone surrogates. */
const text = fc
  .oneof(fc.string({ unit: "binary" }), fc.constantFrom('"', "\\", "'; --", "\u2028", "null", "[1]", "01", "1e3", "{}"))
  .map((each) => each.replace(/\p{Cc}/gu, "").trim())
  .filter((each) => each !== "" && each.isWellFormed());

test("an import stores texts as they are, though they go to SQLite as JSON", async () => {
  const { store } = await openProvider(() => makeSqliteDatabase());
  let now = Date.parse("2026-11-20T10:00:00Z");
  await fc.assert(
    fc.asyncProperty(text, text, async (first_name, last_name) => {
      now += 1_000;
      await importRows(store, now, { ...SITA, first_name, last_name });
      const customer = await findCustomer(store.engine.db, "production", SITA.cuid);
      expect([customer?.firstName, customer?.lastName]).toEqual([first_name, last_name]);
    }),
    { numRuns: 50 },
  );
});
