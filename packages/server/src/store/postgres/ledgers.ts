import type { NewEntry } from "../../domain/customer.ts";
import type { NewEvent } from "../../domain/event.ts";
import type { ToldChange } from "../../domain/news.ts";
import type { RecordedTopUp } from "../../domain/top-up.ts";
import { CHANGE, changeRows, ON_CHANGE } from "../due.ts";
import { eventRow } from "../events.ts";
import { entryRow, HEAD_COLUMNS, HEAD_FROM_ENTRY, headRow, LEDGER_KEY, TOP_UP_ENTRY, topUpRow } from "../rows.ts";
import { addSalesSql, SOLD } from "../sales.ts";
import { ACCOUNT, isAsked, namesOf, omit, orNull, qualified, text } from "../table.ts";
import { columnsOf, type RawRow, TABLES } from "../tables.ts";
import { asked, insertRows, putRows, unlessEmpty, unnest, withRows } from "./columns.ts";
import { LOCK_EVENTS } from "./locks.ts";
import type { Prepared, Query } from "./session.ts";

/** Reads the ledgers of some customers of an environment, each in the order of its entries. */
export const ENTRIES: Prepared = {
  name: "ledger_entries",
  text: `SELECT ${columnsOf("ledger_entry").join(", ")} FROM ledger_entry
    WHERE cuid = ANY($1::text[]) AND environment = $2 ORDER BY cuid, service, req_id, plan, seq`,
};
export const DELETE_ENTRIES: Prepared = {
  name: "ledger_entries_delete",
  text: `DELETE FROM ledger_entry WHERE cuid = $1 AND environment = $2 AND service = $3 AND req_id = $4 AND plan = $5
    AND seq < $6`,
};

const APPEND = insertRows("ledger_entry", TABLES.ledger_entry.columns);
const PUT_HEADS = putRows("subscription");

/** Appends entries and updates their subscription rows. The customers must be locked. */
export function appendEntries(entries: readonly NewEntry[]): Query[] {
  if (entries.length === 0) return [];
  const heads = new Map<string, RawRow<"subscription">>();
  const rows = entries.map(entryRow);
  for (const row of rows) heads.set(JSON.stringify(LEDGER_KEY.map((column) => row[column])), headRow(row));
  return [APPEND(rows), PUT_HEADS([...heads.values()])];
}

/** The columns of the three rows of a recorded top-up. Each value is sent once: `code` is the bouquet, `wall` the txnDate. */
const TOP_UP = omit(TABLES.top_up.columns, ["bouquet_code", "txn_date", "status"]);
const SENT = {
  ...TOP_UP,
  ...TOP_UP_ENTRY,
  /** Whether to insert or update the subscription row; null if a later top-up of the batch does it. */
  put: orNull(text<"insert" | "update">()),
};

const OF_TOP_UP = namesOf(TOP_UP).join(", ");
const OF_ENTRY = namesOf(TOP_UP_ENTRY).join(", ");
const LEDGER = LEDGER_KEY.join(", ");
const HEAD = HEAD_COLUMNS.join(", ");
/** The sent column for each of HEAD_COLUMNS. The subscription takes its name from the bouquet of the top-up. */
const AFTER = Object.values({ ...HEAD_FROM_ENTRY, code: "code", name: "name", add_on: "add_on" });

/**
 * A subscription row that was loaded is updated: this spares PostgreSQL the lock of an upsert. If the row has disappeared,
 * a division by zero fails the statement.
 */
const RECORD = withRows(
  {
    name: "record",
    text: `WITH k AS (SELECT * FROM ${asked(SENT)}),
    top_ups AS (INSERT INTO top_up (${OF_TOP_UP}, bouquet_code, txn_date, status)
      SELECT ${OF_TOP_UP}, code, wall, 'success' FROM k),
    entries AS (INSERT INTO ledger_entry (${OF_ENTRY}, after_code, after_name, after_add_on, kind)
      SELECT ${OF_ENTRY}, code, name, add_on, 'top_up' FROM k),
    inserted AS (INSERT INTO subscription (${LEDGER}, ${HEAD}) SELECT ${LEDGER}, ${AFTER.join(", ")} FROM k
      WHERE put = 'insert'),
    updated AS (UPDATE subscription AS s SET (${HEAD}) = (${qualified("k", AFTER)}) FROM k
      WHERE put = 'update' AND ${isAsked("s", LEDGER_KEY)} RETURNING 1)
    SELECT 1 / ((SELECT count(*) FROM updated) = (SELECT count(*) FROM k WHERE put = 'update'))::int`,
  },
  SENT,
);

/** Writes the transactions, ledger entries and subscription rows of top-ups. */
export function record(topUps: readonly RecordedTopUp[]): Query {
  const ledgers = topUps.map(ledgerName);
  const last = new Map(ledgers.map((ledger, index) => [ledger, index]));
  const begun = new Set(ledgers.filter((_, index) => topUps[index]?.entry.seq === 1));
  const rows = topUps.map(({ transaction, plan, entry }, index) => {
    const ledger = ledgers[index] as string;
    const put = last.get(ledger) !== index ? null : begun.has(ledger) ? "insert" : "update";
    return { ...topUpRow(transaction), ...entryRow({ key: transaction, plan, entry }), put };
  });
  return RECORD(rows);
}

function ledgerName({ transaction: { environment, cuid, service, reqId }, plan }: RecordedTopUp): string {
  return JSON.stringify([environment, cuid, service, reqId, plan]);
}

const SALES = omit(TABLES.sales_day.columns, ["lane"]);
/** Each session adds to rows of its own lane, so that batches do not wait for each other. */
export const ADD_SALES = withRows(
  {
    name: "sales_add",
    text: addSalesSql("current_setting('topupd.lane')::bigint", `${SOLD.join(", ")} FROM ${asked(SALES)} WHERE true`),
  },
  SALES,
);

/** Returns a row if the provider has a target, so that events must be written. */
export const FIND_TARGET: Prepared = {
  name: "target_any",
  text: "SELECT 1 FROM target WHERE partner_id IS NULL LIMIT 1",
};
/** The webhooks of some accounts. */
export const FIND_WEBHOOKS = withRows(
  {
    name: "webhooks",
    text: `SELECT t.id, t.partner_id, t.environment FROM ${asked(ACCOUNT)}
      JOIN target AS t ON ${isAsked("t", TABLES.account.key)}`,
  },
  ACCOUNT,
);

const EVENT = omit(TABLES.event.columns, TABLES.event.key);
const EVENT_NAMES = namesOf(EVENT);
const INSERT_EVENTS = withRows(
  {
    name: "events_insert",
    text: `INSERT INTO event (seq, ${EVENT_NAMES.join(", ")})
      SELECT (SELECT coalesce(max(seq), 0) FROM event) + k.place, ${qualified("k", EVENT_NAMES)}
      FROM ${unnest(EVENT)} WITH ORDINALITY AS k(${EVENT_NAMES.join(", ")}, place)`,
  },
  EVENT,
);

/** Writes events. Must be sent last in a transaction: it locks the events until the commit. */
export function appendEvents(events: readonly NewEvent[]): Query[] {
  return events.length === 0 ? [] : [LOCK_EVENTS, INSERT_EVENTS(events.map(eventRow))];
}

const CHANGE_NAMES = namesOf(CHANGE).join(", ");
const CHANGE_DUE = withRows(
  {
    name: "due_change",
    text: `INSERT INTO due (${CHANGE_NAMES}) SELECT ${CHANGE_NAMES} FROM ${asked(CHANGE)}
      ORDER BY target_id, subject COLLATE "C" ${ON_CHANGE}`,
  },
  CHANGE,
);

/** Makes subjects due at their targets. Must be sent after all that locks customers and accounts. */
export function changeDue(changes: readonly ToldChange[]): Query[] {
  return unlessEmpty(CHANGE_DUE, changeRows(changes));
}
