import type { NewEntry } from "../../customer-files.ts";
import {
  CONNECTION_KEY,
  type CustomerConnectionRow,
  ENTRY_COLUMNS,
  entryRow,
  HEAD_COLUMNS,
  headRow,
  keyColumns,
  LEDGER_KEY,
  type OverviewRow,
  toFoundConnection,
  toOverviews,
} from "../../rows.ts";
import { codesToFind } from "../../settings.ts";
import type { ProviderSettings, Store } from "../../store.ts";
import type { Raw, SubscriptionRow } from "../../tables.ts";
import type { Database } from "../session/database.ts";
import type { Prepared, Query } from "../session/session.ts";
import { insertRows, isAsked, putRows, qualified, textArray } from "./columns.ts";

const APPEND = insertRows("ledger_entry", [...LEDGER_KEY, ...ENTRY_COLUMNS]);
const PUT_HEADS = putRows("subscription", LEDGER_KEY, [...LEDGER_KEY, ...HEAD_COLUMNS]);

/** The ledgers of some customers of an environment, each by its entries' numbers. */
export const ENTRIES: Prepared = {
  name: "ledger_entries",
  text: `SELECT ${[...LEDGER_KEY, ...ENTRY_COLUMNS].join(", ")} FROM ledger_entry
    WHERE cuid = ANY($1::text[]) AND environment = $2 ORDER BY cuid, service, req_id, plan, seq`,
};
export const DELETE_ENTRIES: Prepared = {
  name: "ledger_entries_delete",
  text: `DELETE FROM ledger_entry WHERE cuid = $1 AND environment = $2 AND service = $3 AND req_id = $4 AND plan = $5
    AND seq < $6`,
};

/** For SELECT, of connection as `n` and subscription as `s`. */
export const CONNECTION_WITH_HEADS = `${qualified("n", [...CONNECTION_KEY, "status", "blocked", "segment"])}, s.plan,
  ${qualified("s", HEAD_COLUMNS)}`;

const OVERVIEWS: Prepared = {
  name: "overviews",
  text: `SELECT c.cuid, c.first_name, c.last_name, c.mobile, c.status,
      n.service, n.req_id, n.status AS connection_status, n.blocked,
      (SELECT max(s.end_time) FROM subscription AS s WHERE ${isAsked("s", CONNECTION_KEY, "n")} AND s.add_on = 0) AS base_end
    FROM (SELECT DISTINCT cuid FROM customer_code WHERE code = ANY($1::text[]) AND environment = $2 LIMIT 2) AS k
    JOIN customer AS c ON c.cuid = k.cuid AND c.environment = $2
    LEFT JOIN connection AS n ON n.cuid = c.cuid AND n.environment = c.environment
    ORDER BY c.cuid, n.position`,
};

const ONE_CONNECTION: Prepared = {
  name: "connection",
  text: `SELECT c.first_name, c.last_name, c.mobile, c.status AS customer_status, ${CONNECTION_WITH_HEADS}
    FROM customer AS c
    LEFT JOIN connection AS n ON n.cuid = c.cuid AND n.environment = c.environment AND n.service = $3 AND n.req_id = $4
    LEFT JOIN subscription AS s ON ${isAsked("s", CONNECTION_KEY, "n")}
    WHERE c.cuid = $1 AND c.environment = $2`,
};

/** The SQL by which partners' requests find customers. */
export function customerTables(
  database: Database,
  provider: ProviderSettings,
): Pick<Store, "lookUpCustomers" | "findConnection"> {
  return {
    async lookUpCustomers(environment, code) {
      const values = [textArray(codesToFind(code, provider)), environment];
      return toOverviews(await database.ask<OverviewRow>({ ...OVERVIEWS, values }));
    },

    async findConnection({ cuid, environment, service, reqId }) {
      const values = [cuid, environment, service, reqId];
      return toFoundConnection(cuid, await database.ask<CustomerConnectionRow>({ ...ONE_CONNECTION, values }));
    },
  };
}

/**
 * Appends entries, and puts the subscriptions' rows as they say. To be sent while the customers are locked.
 * @param entries those of one ledger in the order of their numbers.
 */
export function appendEntries(entries: readonly NewEntry[]): Query[] {
  if (entries.length === 0) return [];
  const heads = new Map<string, Raw<SubscriptionRow>>();
  const rows = entries.map(({ key, plan, entry }) => {
    const ledger = { ...keyColumns(key), plan };
    heads.set(JSON.stringify(Object.values(ledger)), { ...ledger, ...headRow(entry) });
    return { ...ledger, ...entryRow(entry) };
  });
  return [APPEND(rows), PUT_HEADS([...heads.values()])];
}
