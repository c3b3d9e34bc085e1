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
  const guards = "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND sql LIKE '%RAISE(%'";
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

/** The key of each view in the table that is behind them all. */
const VIEWS = {
  customer: { fixed: "level = 0", key: ["cuid", "environment"] },
  connection: { fixed: "level = 1", key: ["cuid", "environment", "service", "req_id"] },
  subscription: { fixed: "level = 2 AND is_grant = 0", key: ["cuid", "environment", "service", "req_id", "plan"] },
  subscription_grant: {
    fixed: "level = 2 AND is_grant = 1",
    key: ["cuid", "environment", "service", "req_id", "plan", "seq"],
  },
} as const;

/** Has a view changed as a table is, for as long as the connection is open. */
function changesThrough(connection: DatabaseSyncInstance, view: keyof typeof VIEWS): string {
  const { fixed, key } = VIEWS[view];
  const columns = connection.prepare(`SELECT name FROM pragma_table_info('${view}')`).all() as { name: string }[];
  const remove = `DELETE FROM customer_row
    WHERE ${fixed} AND ${key.map((column) => `${column} = OLD.${column}`).join(" AND ")};`;
  const insert = `INSERT INTO ${view} VALUES (${columns.map(({ name }) => `NEW.${name}`).join(", ")});`;
  return `CREATE TEMP TRIGGER ${view}_delete INSTEAD OF DELETE ON main.${view} BEGIN ${remove} END;
    CREATE TEMP TRIGGER ${view}_update INSTEAD OF UPDATE ON main.${view} BEGIN ${remove} ${insert} END;`;
}
