import { expect, test } from "vitest";
import { ARCHIVE_TABLES, DERIVED_COLUMNS, NOT_ARCHIVED } from "../../src/store/common/archive.ts";
import { type MakeDatabase, openStore } from "../store-suite/database.ts";
import { makePostgresDatabase } from "../support/postgres-database.ts";
import { makeSqliteDatabase } from "../support/sqlite-database.ts";

/** What is neither archived nor left out on purpose would be lost in a move, and nobody would notice. */
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
  const kept = names.filter((name) => {
    const [table = "", column = ""] = name.split(".");
    return NOT_ARCHIVED[table] === undefined && !DERIVED_COLUMNS.includes(column);
  });
  const archived = ARCHIVE_TABLES.flatMap(({ name, columns: list }) => list.map(([column]) => `${name}.${column}`));
  expect(kept.sort()).toEqual([...archived].sort());
});
