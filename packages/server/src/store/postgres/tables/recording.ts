import { CONNECTION_KEY, flag, HEAD_COLUMNS, LEDGER_KEY } from "../../rows.ts";
import type { RecordedTopUp } from "../../settling.ts";
import type { Query, Value } from "../session/session.ts";
import { arrayOf, isAsked, qualified, textArray, unnest } from "./columns.ts";

/** What the rows of a top-up hold: each value is sent and read once. */
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
/** `put`: what is done with the ledger's row of subscription; null where a later top-up of the batch does it. */
const COLUMNS = [...Object.keys(SENT), "put"];

const CONNECTION = CONNECTION_KEY.join(", ");
const LEDGER = LEDGER_KEY.join(", ");
const TOP_UP = "checkout_id, txn_id, partner_id, amount, at, udf1, udf2";
const ENTRY = `txn_id, at, wall, seq, code, name, add_on, months, days,
  after_start, after_anchor, after_months, after_days, after_end, after_since, after_goodwill_days`;
const HEAD = HEAD_COLUMNS.join(", ");
/** Where each of HEAD_COLUMNS is found. What was bought names the subscription after it. */
const AFTER = [
  ...["seq", "code", "name", "add_on", "after_start", "after_anchor", "after_months", "after_days", "after_end"],
  ...["after_since", "after_goodwill_days"],
];

/**
 * A ledger's row that was loaded is updated, which spares PostgreSQL the lock of an upsert. Where it is not there any
 * more, a division by zero fails the statement.
 */
const RECORD = {
  name: "record",
  text: `WITH k AS (SELECT * FROM ${unnest(COLUMNS)} AS k (${COLUMNS.join(", ")})),
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

/** Records top-ups: their transactions, their entries, and what the subscriptions are after them. */
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
