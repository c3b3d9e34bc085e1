import type { NewEvent } from "../../domain/event.ts";
import type { NewEntry } from "../customer-files.ts";
import { EVENT_COLUMNS, eventRow } from "../events.ts";
import {
  CONNECTION_KEY,
  ENTRY_COLUMNS,
  entryRow,
  flag,
  HEAD_COLUMNS,
  HEAD_FROM_ENTRY,
  headRow,
  keyColumns,
  LEDGER_KEY,
} from "../rows.ts";
import type { RecordedTopUp } from "../settling.ts";
import type { Raw, SubscriptionRow } from "../tables.ts";
import { arrayOf, insertRows, isAsked, putRows, qualified, textArray, unnest, withRows } from "./columns.ts";
import { LOCK_EVENTS } from "./locks.ts";
import type { Prepared, Query, Value } from "./session.ts";

/** Reads the ledgers of some customers of an environment, each in the order of its entries. */
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

const APPEND = insertRows("ledger_entry", [...LEDGER_KEY, ...ENTRY_COLUMNS]);
const PUT_HEADS = putRows("subscription", LEDGER_KEY, [...LEDGER_KEY, ...HEAD_COLUMNS]);

/**
 * Appends entries and updates their subscription rows. The customers must be locked.
 * @param entries the entries of one ledger must be in the order of their numbers.
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

/** The values of a recorded top-up. Its three rows share them, so that each value is sent once. */
const SENT: Readonly<Record<string, (topUp: RecordedTopUp) => Value>> = {
  cuid: ({ transaction }) => transaction.cuid,
  environment: ({ transaction }) => transaction.environment,
  service: ({ transaction }) => transaction.service,
  req_id: ({ transaction }) => transaction.reqId,
  plan: ({ plan }) => plan,
  checkout_id: ({ transaction }) => transaction.checkoutId,
  txn_id: ({ transaction }) => transaction.txnId,
  partner_id: ({ transaction }) => transaction.partnerId,
  amount: ({ transaction }) => Number(transaction.amount),
  commission: ({ transaction }) => Number(transaction.commission),
  at: ({ transaction }) => transaction.at,
  wall: ({ transaction }) => transaction.txnDate,
  udf1: ({ transaction }) => transaction.udf1 ?? null,
  udf2: ({ transaction }) => transaction.udf2 ?? null,
  seq: ({ entry }) => entry.seq,
  code: ({ entry }) => entry.bouquet.code,
  name: ({ entry }) => entry.bouquet.name,
  add_on: ({ entry }) => flag(entry.bouquet.addOn),
  months: ({ entry }) => entry.period.months,
  days: ({ entry }) => entry.period.days,
  after_start: ({ entry }) => entry.after.start,
  after_anchor: ({ entry }) => entry.after.anchor,
  after_months: ({ entry }) => entry.after.months,
  after_days: ({ entry }) => entry.after.days,
  after_end: ({ entry }) => entry.after.end,
  after_since: ({ entry }) => entry.after.since,
  after_goodwill_days: ({ entry }) => entry.after.goodwillDays,
};
/** `put`: whether to insert or update the subscription row; null if a later top-up of the batch does it. */
const SENT_COLUMNS = [...Object.keys(SENT), "put"];

const CONNECTION = CONNECTION_KEY.join(", ");
const LEDGER = LEDGER_KEY.join(", ");
const TOP_UP = "checkout_id, txn_id, partner_id, amount, commission, at, udf1, udf2";
const ENTRY = `txn_id, at, wall, seq, code, name, add_on, months, days,
  after_start, after_anchor, after_months, after_days, after_end, after_since, after_goodwill_days`;
const HEAD = HEAD_COLUMNS.join(", ");
/** The sent column for each of HEAD_COLUMNS. The subscription takes its name from the bouquet of the top-up. */
const AFTER = Object.values({ ...HEAD_FROM_ENTRY, code: "code", name: "name", add_on: "add_on" });

/**
 * A subscription row that was loaded is updated: this spares PostgreSQL the lock of an upsert. If the row has disappeared,
 * a division by zero fails the statement.
 */
const RECORD = {
  name: "record",
  text: `WITH k AS (SELECT * FROM ${unnest(SENT_COLUMNS)} AS k (${SENT_COLUMNS.join(", ")})),
    top_ups AS (INSERT INTO top_up (${CONNECTION}, ${TOP_UP}, bouquet_code, txn_date, status)
      SELECT ${CONNECTION}, ${TOP_UP}, code, wall, 'success' FROM k),
    entries AS (INSERT INTO ledger_entry (${LEDGER}, ${ENTRY}, after_code, after_name, after_add_on, kind)
      SELECT ${LEDGER}, ${ENTRY}, code, name, add_on, 'top_up' FROM k),
    inserted AS (INSERT INTO subscription (${LEDGER}, ${HEAD}) SELECT ${LEDGER}, ${AFTER.join(", ")} FROM k
      WHERE put = 'insert'),
    updated AS (UPDATE subscription AS s SET (${HEAD}) = (${qualified("k", AFTER)}) FROM k
      WHERE put = 'update' AND ${isAsked("s", LEDGER_KEY)} RETURNING 1)
    SELECT 1 / ((SELECT count(*) FROM updated) = (SELECT count(*) FROM k WHERE put = 'update'))::int`,
};

/** Writes the transactions, ledger entries and subscription rows of top-ups. */
export function record(topUps: readonly RecordedTopUp[]): Query {
  const ledgers = topUps.map(ledgerName);
  const last = new Map(ledgers.map((ledger, index) => [ledger, index]));
  const begun = new Set(ledgers.filter((_, index) => topUps[index]?.entry.seq === 1));
  const put = (ledger: string, index: number) => {
    if (last.get(ledger) !== index) return null;
    return begun.has(ledger) ? "insert" : "update";
  };
  const sent = Object.values(SENT).map((value) => arrayOf(topUps, value));
  return { ...RECORD, values: [...sent, textArray(ledgers.map(put))] };
}

function ledgerName({ transaction: { environment, cuid, service, reqId }, plan }: RecordedTopUp): string {
  return JSON.stringify([environment, cuid, service, reqId, plan]);
}

/** Returns a row if there is a target, so that events must be written. */
export const FIND_TARGET: Prepared = { name: "target_any", text: "SELECT 1 FROM target LIMIT 1" };

const EVENT = EVENT_COLUMNS.filter((column) => column !== "seq");
const INSERT_EVENTS = withRows(
  {
    name: "events_insert",
    text: `INSERT INTO event (seq, ${EVENT.join(", ")})
      SELECT (SELECT coalesce(max(seq), 0) FROM event) + k.place, ${qualified("k", EVENT)}
      FROM ${unnest(EVENT)} WITH ORDINALITY AS k(${EVENT.join(", ")}, place)`,
  },
  EVENT,
);

/** Writes events. Must be sent last in a transaction: it locks the events until the commit. */
export function appendEvents(events: readonly NewEvent[]): Query[] {
  return events.length === 0 ? [] : [LOCK_EVENTS, INSERT_EVENTS(events.map(eventRow))];
}
