import { expect, test } from "vitest";
import type { Columns } from "../../src/store/table.ts";
import { TABLES } from "../../src/store/tables.ts";
import { type MakeDatabase, openStore } from "../store-suite/database.ts";
import { makePostgresDatabase } from "../support/postgres-database.ts";
import { makeSqliteDatabase } from "../support/sqlite-database.ts";

/** A column as the schema has it: its table, name, type, whether it can be null, and whether it is in the primary key. */
const SCHEMAS: readonly (readonly [kind: string, makeDatabase: MakeDatabase, query: string])[] = [
  [
    "SQLite",
    makeSqliteDatabase,
    `SELECT s.name || '.' || c.name AS name, lower(c.type) AS type, c."notnull" = 0 AND c.pk = 0 AS nullable, c.pk > 0 AS key
     FROM sqlite_schema AS s JOIN pragma_table_info(s.name) AS c WHERE s.type IN ('table', 'view')`,
  ],
  [
    "PostgreSQL",
    makePostgresDatabase,
    `SELECT table_name || '.' || c.column_name AS name, data_type AS type, is_nullable = 'YES' AS nullable,
       EXISTS (SELECT 1 FROM information_schema.key_column_usage AS k
         JOIN information_schema.table_constraints AS t USING (table_schema, table_name, constraint_name)
         WHERE t.constraint_type = 'PRIMARY KEY' AND k.table_name = c.table_name AND k.column_name = c.column_name
           AND k.table_schema = c.table_schema) AS key
     FROM information_schema.columns AS c WHERE table_schema = current_schema()`,
  ],
];

const KINDS: Readonly<Record<string, string>> = {
  integer: "number",
  bigint: "number",
  text: "text",
  blob: "blob",
  bytea: "blob",
};

/** Columns of one engine, which copies and backups make again. */
const OF_ONE_ENGINE = /^schema_migration\.|^ledger_entry\.(?:id|previous)$|^subscription\.last_entry$/;

test.each(SCHEMAS)(
  "%s has the declared tables, each column with its kind and its place in the key",
  async (_, makeDatabase, query) => {
    const { database } = await openStore(() => makeDatabase());
    const found = (await database.read(query))
      .map(
        ({ name, type, nullable, key }) =>
          [String(name), KINDS[String(type)], Boolean(nullable), Boolean(key)] as const,
      )
      .filter(([name]) => !OF_ONE_ENGINE.test(name))
      .toSorted(([a], [b]) => (a < b ? -1 : 1));
    const declared = Object.entries<{ readonly key: readonly string[]; readonly columns: Columns }>(TABLES)
      .flatMap(([table, { key, columns }]) => {
        return Object.entries(columns).map(([name, { kind, isNullable }]) => {
          return [`${table}.${name}`, kind, isNullable, key.includes(name)] as const;
        });
      })
      .toSorted(([a], [b]) => (a < b ? -1 : 1));
    // SQLite finds the entries of a ledger from the last one back.
    const isKnown = ([name]: readonly [string, ...unknown[]]) =>
      makeDatabase !== makeSqliteDatabase || !name.startsWith("ledger_entry.");
    const withoutKey = ([name, kind, isNullable]: (typeof declared)[number]) =>
      [name, kind, isNullable, false] as const;
    expect(found).toEqual(declared.map((column) => (isKnown(column) ? column : withoutKey(column))));
  },
);
