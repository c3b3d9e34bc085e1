import type { Reader } from "../partner-reads.ts";
import type { Database } from "./database.ts";
import { TOPPED_UP } from "./ledgers.ts";

/** SQLite's word for the parameters of a text that both engines share. */
export function inSqlite(text: string): string {
  return text.replaceAll("$", "?");
}

export function sqliteReader(database: Database): Reader {
  return {
    join: "CROSS JOIN",
    toppedUp: TOPPED_UP,
    prepare<Row>(_: string, text: string) {
      const statement = database.prepareRows<Row>(inSqlite(text));
      return {
        ask: async (...values) => database.read(() => statement(...values)),
        askNow: async (...values) => database.ask(() => statement(...values)),
      };
    },
  };
}
