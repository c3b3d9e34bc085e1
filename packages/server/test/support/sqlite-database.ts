import { join } from "node:path";
import { DatabaseSync, type DatabaseSyncInstance } from "@photostructure/sqlite";
import { onTestFinished } from "vitest";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import type { TestDatabase } from "../store-suite/database.ts";
import { startSettler } from "./settler.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const OPEN = { timeZone: undefined, currencyExponent: undefined };

/** A database file of its own, for what every store must do. */
export function makeSqliteDatabase(path = join(temporaryFolder(), "topupd.db")): TestDatabase {
  return {
    open: (options) => openSqliteStore({ ...OPEN, ...options, path }),
    read: async (query) => rawConnection(path).prepare(query).all() as Record<string, unknown>[],
    tamper: async (sql) => tamper(path, sql),
  };
}

/** The same, and its top-ups are settled as those of a service are: by a settler. */
export function makeSettledDatabase(): TestDatabase {
  const path = join(temporaryFolder(), "topupd.db");
  const plain = makeSqliteDatabase(path);
  return {
    ...plain,
    open: async (options) => {
      const made = await plain.open(options);
      const { socketPath } = await startSettler({ ...options, path, provider: made.provider });
      await made.close();
      return openSqliteStore({ ...OPEN, ...options, path, settlerSocket: socketPath });
    },
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
  const triggers = connection.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").all() as {
    name: string;
    sql: string;
  }[];
  for (const { name } of triggers) connection.exec(`DROP TRIGGER ${name}`);
  connection.enableDefensive(false);
  connection.exec("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON;");
  connection.exec(sql);
  for (const trigger of triggers) connection.exec(trigger.sql);
  connection.close();
}
