import type { NewEntry } from "../../customer-files.ts";
import { ENTRY_COLUMNS, entryRow, HEAD_COLUMNS, headRow, keyColumns } from "../../rows.ts";
import type { SubscriptionRow } from "../../tables.ts";
import type { Prepared, Query } from "../session/session.ts";
import { insertRows, putRows } from "./columns.ts";

export const CONNECTION_KEY = ["cuid", "environment", "service", "req_id"] as const;
const LEDGER_KEY = [...CONNECTION_KEY, "plan"] as const;

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

/**
 * Appends entries, and puts the subscriptions' rows as they say. To be sent while the customers are locked.
 * @param entries those of one ledger in the order of their numbers.
 */
export function appendEntries(entries: readonly NewEntry[]): Query[] {
  if (entries.length === 0) return [];
  const heads = new Map<string, SubscriptionRow>();
  const rows = entries.map(({ key, plan, entry }) => {
    const ledger = { ...keyColumns(key), plan };
    heads.set(JSON.stringify(Object.values(ledger)), { ...ledger, ...headRow(entry) });
    return { ...ledger, ...entryRow(entry) };
  });
  return [APPEND(rows), PUT_HEADS([...heads.values()])];
}
