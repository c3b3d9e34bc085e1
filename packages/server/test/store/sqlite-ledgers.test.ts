import fc from "fast-check";
import { expect, test } from "vitest";
import { findCustomer } from "../../src/store/customers.ts";
import { findWrong } from "../store-suite/database.ts";
import { importRows, openProvider, RAM_NET, SITA, SITA_NET } from "../store-suite/provider.ts";
import { makeSqliteDatabase } from "../support/sqlite-database.ts";

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
