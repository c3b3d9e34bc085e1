import type { Reader } from "../partner-reads.ts";
import type { Database } from "./database.ts";

const TOPPED_UP = `SELECT 1 FROM ledger_entry AS e JOIN top_up AS t ON t.txn_id = e.txn_id
  WHERE e.cuid = $1 AND e.environment = $2 AND t.partner_id = $3 LIMIT 1`;

export function postgresReader(database: Database): Reader {
  return {
    join: "JOIN",
    toppedUp: TOPPED_UP,
    prepare<Row>(name: string, text: string) {
      return { ask: (...values) => database.ask<Row>({ name, text, values }) };
    },
  };
}
