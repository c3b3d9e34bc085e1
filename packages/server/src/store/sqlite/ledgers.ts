import type { ConnectionKey } from "../../domain/customer.ts";
import type { Entry, TopUpEntry } from "../../domain/ledger.ts";
import { ENTRY_COLUMNS, entryRow, flag, type HEAD_COLUMNS, LEDGER_KEY } from "../rows.ts";
import type { Database, Value } from "./database.ts";

const LEDGER = LEDGER_KEY.join(", ");
/** For {@link ledgerValues}. */
export const OF_LEDGER = LEDGER_KEY.map((column, index) => `${column} = ?${index + 1}`).join(" AND ");

/** Of {@link entryValues}. */
export const ENTRY_VALUES = [...LEDGER_KEY, ...ENTRY_COLUMNS] as const;

/** @param found where the value of each column is found; the other columns stay empty. @param from where they come from. */
export function appendEntries(found: readonly (readonly [(typeof ENTRY_VALUES)[number], string])[], from = ""): string {
  const [columns, values] = [found.map(([column]) => column), found.map(([, value]) => value)];
  const isLedger = LEDGER_KEY.map((column) => `s.${column} = ${values[columns.indexOf(column)]}`).join(" AND ");
  return `INSERT INTO ledger_entry (previous, ${columns.join(", ")})
    SELECT (SELECT last_entry FROM subscription AS s WHERE ${isLedger}), ${values.join(", ")} ${from}`;
}

/** Puts the subscriptions as entries say. @param which entries, those of one ledger by their numbers. */
export function putHeads(which: string): string {
  const columns = Object.keys(AFTER);
  return `INSERT INTO subscription (last_entry, ${LEDGER}, ${columns.join(", ")})
    SELECT id, ${LEDGER}, ${Object.values(AFTER).join(", ")} FROM ledger_entry WHERE ${which}
    ON CONFLICT (${LEDGER}) DO UPDATE SET last_entry = excluded.last_entry,
      ${columns.map((column) => `${column} = excluded.${column}`).join(", ")}`;
}

/** Where an entry has what a subscription's row tells after it. */
const AFTER: Readonly<Record<(typeof HEAD_COLUMNS)[number], string>> = {
  ...{ seq: "seq", code: "after_code", name: "after_name", add_on: "after_add_on", start_time: "after_start" },
  ...{ anchor_time: "after_anchor", months: "after_months", days: "after_days", end_time: "after_end" },
  ...{ since: "after_since", goodwill_days: "after_goodwill_days" },
};

/** Appends one entry: for {@link entryValues}. Then follows {@link PUT_HEAD}. */
export const APPEND_ENTRY = appendEntries(ENTRY_VALUES.map((column, index) => [column, `?${index + 1}`]));
export const PUT_HEAD = putHeads("id = last_insert_rowid()");

export function entryValues(key: ConnectionKey, plan: string, entry: Entry): Value[] {
  const row = entryRow(entry);
  return [...ledgerValues(key, plan), ...ENTRY_COLUMNS.map((column) => row[column])];
}

export function ledgerValues({ cuid, environment, service, reqId }: ConnectionKey, plan: string): Value[] {
  return [cuid, environment, service, reqId, plan];
}

/**
 * From each ledger's last entry to the one before it, which is older: no damage makes it endless. CROSS JOIN keeps the
 * order of the tables.
 */
const chainFrom = (lastEntries: string) => `WITH RECURSIVE chain (id) AS (
  ${lastEntries}
  UNION ALL
  SELECT e.previous FROM chain CROSS JOIN ledger_entry AS e ON e.id = chain.id WHERE e.previous < e.id)`;

/** The ledgers of the customers of a JSON list of cuids, in an environment; each by its entries' numbers. */
export const ENTRIES = `${chainFrom(`SELECT s.last_entry FROM json_each(?1) AS k
    CROSS JOIN subscription AS s ON s.cuid = k.value AND s.environment = ?2`)}
  SELECT ${ENTRY_VALUES.join(", ")} FROM chain CROSS JOIN ledger_entry USING (id)
  ORDER BY ${LEDGER}, seq`;

/**
 * Behind a ledger's key: below which number. The first entry that stays leads to one that is not there any more: that is
 * where its ledger begins.
 */
export const DELETE_ENTRIES = `${chainFrom(`SELECT last_entry FROM subscription WHERE ${OF_LEDGER}`)}
  DELETE FROM ledger_entry WHERE id IN (SELECT id FROM chain) AND seq < ?6`;

/** The entry of a top-up: columns that it leaves empty are not named, and what was bought names the subscription after it. */
const APPEND_TOP_UP = `INSERT INTO ledger_entry (previous, cuid, environment, service, req_id, plan,
    seq, at, wall, code, name, add_on, months, days, txn_id,
    after_start, after_anchor, after_months, after_days, after_end, after_since, after_goodwill_days,
    kind, after_code, after_name, after_add_on)
  VALUES (${Array(22).fill("?").join(", ")}, 'top_up', ?10, ?11, ?12)`;
const MOVE_HEAD = `UPDATE subscription SET last_entry = ?, seq = ?, code = ?, name = ?, add_on = ?,
    start_time = ?, anchor_time = ?, months = ?, days = ?, end_time = ?, since = ?, goodwill_days = ?
  WHERE cuid = ? AND environment = ? AND service = ? AND req_id = ? AND plan = ?`;

/** Appends the entry of a top-up and moves the ledger's head to it. @returns takes the row of the ledger's last entry. */
export function topUpAppending(database: Database) {
  const appendEntry = database.prepare(APPEND_ENTRY);
  const putHead = database.prepare(PUT_HEAD);
  const appendTopUp = database.prepare(APPEND_TOP_UP);
  const moveHead = database.prepare(MOVE_HEAD);
  return (key: ConnectionKey, plan: string, entry: TopUpEntry, lastEntry: number | undefined): void => {
    if (lastEntry === undefined) {
      appendEntry.run(...entryValues(key, plan, entry));
      putHead.run();
      return;
    }
    const { cuid, environment, service, reqId } = key;
    const { seq, at, bouquet, period, txnId, after } = entry;
    const { start, anchor, months, days, end, since, goodwillDays } = after;
    const addOn = flag(bouquet.addOn);
    // One list of arguments each, since a list that is put together takes as long as the statement.
    const { lastInsertRowid } = appendTopUp.run(
      lastEntry,
      cuid,
      environment,
      service,
      reqId,
      plan,
      seq,
      at.instant,
      at.wall,
      bouquet.code,
      bouquet.name,
      addOn,
      period.months,
      period.days,
      txnId,
      start,
      anchor,
      months,
      days,
      end,
      since,
      goodwillDays,
    );
    moveHead.run(
      lastInsertRowid,
      seq,
      bouquet.code,
      bouquet.name,
      addOn,
      start,
      anchor,
      months,
      days,
      end,
      since,
      goodwillDays,
      cuid,
      environment,
      service,
      reqId,
      plan,
    );
  };
}
