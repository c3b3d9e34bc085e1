import { expect, test } from "vitest";
import { ARCHIVE_COLUMNS } from "../../src/store/archive.ts";
import { type MakeDatabase, openStore } from "../store-suite/database.ts";
import { makePostgresDatabase } from "../support/postgres-database.ts";
import { makeSqliteDatabase } from "../support/sqlite-database.ts";

/** Columns that belong to one database only, or follow from archived columns. */
const NOT_ARCHIVED: readonly RegExp[] = [
  /^schema_migration\./,
  // An import makes new ids of entries.
  /^ledger_entry\.(id|previous)$/,
  /^subscription\.last_entry$/,
];

/** A column that is neither archived nor listed above would be lost in a copy without an error. */
const KINDS: readonly (readonly [kind: string, makeDatabase: MakeDatabase, columns: string])[] = [
  [
    "SQLite",
    makeSqliteDatabase,
    `SELECT s.name || '.' || c.name AS name FROM sqlite_schema AS s JOIN pragma_table_info(s.name) AS c
     WHERE s.type IN ('table', 'view')`,
  ],
  [
    "PostgreSQL",
    makePostgresDatabase,
    `SELECT table_name || '.' || column_name AS name FROM information_schema.columns
     WHERE table_schema = current_schema()`,
  ],
];

test.each(KINDS)("an archive holds every column of every table that %s has", async (_, makeDatabase, columns) => {
  const { database } = await openStore(() => makeDatabase());
  const names = (await database.read(columns)).map(({ name }) => String(name));
  const kept = names.filter((name) => !NOT_ARCHIVED.some((pattern) => pattern.test(name)));
  const archived = Object.entries(ARCHIVE_COLUMNS).flatMap(([table, list]) =>
    list.map((column) => `${table}.${column}`),
  );
  expect(kept.sort()).toEqual(archived.sort());
});
