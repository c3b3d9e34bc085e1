import { join } from "node:path";
import { DatabaseSync, type DatabaseSyncInstance } from "@photostructure/sqlite";
import { onTestFinished } from "vitest";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import type { TestDatabase } from "../store-suite/database.ts";
import { temporaryFolder } from "./service.ts";
import { startSettlingBy } from "./settling-thread.ts";

/** A database file of its own, for what every store must do. */
export function makeSqliteDatabase(path = join(temporaryFolder(), "topupd.db")): TestDatabase {
  return {
    open: async (options) => openSqliteStore({ timeZone: undefined, currencyExponent: undefined, ...options, path }),
    read: async (query) => rawConnection(path).prepare(query).all() as Record<string, unknown>[],
    tamper: async (sql) => tamper(path, sql),
  };
}

/** The same, and its top-ups are settled as those of a service are: by a thread. */
export function makeThreadedDatabase(path = join(temporaryFolder(), "topupd.db")): TestDatabase {
  const none = { timeZone: undefined, currencyExponent: undefined };
  return {
    ...makeSqliteDatabase(path),
    open: async (options) =>
      openSqliteStore({
        ...none,
        ...options,
        path,
        settlingThread: { start: startSettlingBy(options.clock), settlesAll: true },
      }),
  };
}

/** A connection of the test's own, as another process or a careless operator has. */
export function rawConnection(path: string): DatabaseSyncInstance {
  const connection = new DatabaseSync(path, { timeout: 5_000 });
  onTestFinished(() => {
    if (connection.isOpen) connection.close();
  });
  return connection;
}

/** Writes past the triggers, checks and foreign keys that guard the tables. */
export function tamper(path: string, sql: string): void {
  const connection = rawConnection(path);
  const guards = `SELECT name, sql FROM sqlite_schema
    WHERE type = 'trigger' AND sql LIKE '%RAISE(%' AND sql NOT LIKE '%INSTEAD OF%'`;
  const triggers = connection.prepare(guards).all() as {
    name: string;
    sql: string;
  }[];
  for (const { name } of triggers) connection.exec(`DROP TRIGGER ${name}`);
  connection.enableDefensive(false);
  connection.exec("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON;");
  for (const view of Object.keys(VIEWS)) connection.exec(changesThrough(connection, view as keyof typeof VIEWS));
  connection.exec(sql);
  for (const trigger of triggers) connection.exec(trigger.sql);
  connection.close();
}

/** The key of each view in the table that is behind it. */
const VIEWS = {
  customer: { table: "customer_row", fixed: "level = 0", key: ["cuid", "environment"] },
  connection: { table: "customer_row", fixed: "level = 1", key: ["cuid", "environment", "service", "req_id"] },
  subscription: {
    table: "customer_row",
    fixed: "level = 2",
    key: ["cuid", "environment", "service", "req_id", "plan"],
  },
  subscription_grant: {
    table: "grant_row",
    fixed: "true",
    key: ["cuid", "environment", "service", "req_id", "plan", "seq"],
  },
} as const;

/** Has a view changed as a table is, for as long as the connection is open. */
function changesThrough(connection: DatabaseSyncInstance, view: keyof typeof VIEWS): string {
  const { table, fixed, key } = VIEWS[view];
  const columns = connection.prepare(`SELECT name FROM pragma_table_info('${view}')`).all() as { name: string }[];
  const isIt = `${fixed} AND ${key.map((column) => `${column} = OLD.${column}`).join(" AND ")}`;
  const set = (value: (name: string) => string) => columns.map(({ name }) => `${name} = ${value(name)}`).join(", ");
  return `CREATE TEMP TRIGGER ${view}_delete INSTEAD OF DELETE ON main.${view} BEGIN ${DELETE[view](isIt)} END;
    CREATE TEMP TRIGGER ${view}_update INSTEAD OF UPDATE ON main.${view} BEGIN
      UPDATE ${table} SET ${set((name) => `NEW.${name}`)} WHERE ${isIt};
    END;`;
}

const deleteRow = (isIt: string) => `DELETE FROM customer_row WHERE ${isIt};`;
const DELETE: Readonly<Record<keyof typeof VIEWS, (isIt: string) => string>> = {
  customer: deleteRow,
  connection: deleteRow,
  // The ledger stays.
  subscription: (
    isIt,
  ) => `UPDATE customer_row SET code = NULL, name = NULL, add_on = NULL, start_at = NULL, end_at = NULL,
    months = NULL, days = NULL, seconds = NULL, topped_up_months = NULL, topped_up_days = NULL,
    goodwill_days = NULL, granted_end_at = NULL
    WHERE ${isIt};`,
  // What leads to it leads to the one before it.
  subscription_grant: (isIt) => `
    UPDATE grant_row SET before = (SELECT before FROM grant_row WHERE ${isIt})
      WHERE before = (SELECT id FROM grant_row WHERE ${isIt});
    UPDATE customer_row SET (last_grant, last_seq) = (SELECT max(g.id), max(g.seq) FROM grant_row AS g
        WHERE g.id = (SELECT before FROM grant_row WHERE ${isIt}))
      WHERE last_grant = (SELECT id FROM grant_row WHERE ${isIt});
    DELETE FROM grant_row WHERE ${isIt};`,
};
