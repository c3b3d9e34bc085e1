import { DatabaseSync } from "@photostructure/sqlite";
import { formatTransactionId, randomDigits } from "../packages/server/src/domain/transaction.ts";

/*
 * A past of top-ups, written into the file by SQL while no service runs: to send millions of them would take hours, and
 * none could be older than now. `topupd check` verifies that the service would have made the same.
 */

const DAY_MS = 86_400_000;
/** A prime: customers pay in no order, so that a page of top-ups needs rows from all over the file. */
const STEP = 7919;

export interface Past {
  /** Number of top-ups of each customer. */
  readonly each: number;
  /** Over so many days before now. */
  readonly days: number;
}

/** Gives each customer's subscription a past. @returns how many top-ups there are. */
export function appendHistory(path: string, { each, days }: Past): number {
  const database = new DatabaseSync(path);
  database.exec("PRAGMA synchronous = OFF");
  const key = "cuid, environment, service, req_id, plan";
  const count = database.prepare("SELECT count(*) AS count FROM subscription").get() as { count: number };
  const total = count.count * each;
  const begin = Date.now() - days * DAY_MS;
  // The time of each is that of its place among all, and its ids begin with it.
  database.function("txn_id", { deterministic: true }, (index: unknown) =>
    txnIdAt(timeOf(Number(index)), Number(index)),
  );
  database.function("time_of", { deterministic: true }, (index: unknown) => timeOf(Number(index)));
  function timeOf(index: number): number {
    return Math.floor(begin + (index * days * DAY_MS) / total);
  }
  const newest = database.prepare("SELECT max(id) AS id FROM ledger_entry");
  for (let turn = 0; turn < each; turn += 1) {
    const { id } = newest.get() as { id: number };
    database.exec(`BEGIN;
      CREATE TEMP TABLE turn AS SELECT ${key}, seq, last_entry, code, name, add_on, start_time, anchor_time, months, days,
        since, goodwill_days, ${turn * count.count} + row_number() OVER () * ${STEP} % ${count.count} AS place,
        strftime('%Y-%m-%d %H:%M:%S', anchor_time, '+' || (months + 1) || ' months') AS end_time FROM subscription
        ORDER BY place;
      INSERT INTO top_up (checkout_id, txn_id, partner_id, environment, cuid, service, req_id, bouquet_code, amount,
          commission, at, txn_date, status, udf1)
        SELECT 'past-' || txn_id(place), txn_id(place), 1, environment, cuid, service, req_id, code, 113000, 2260, time_of(place),
          strftime('%Y-%m-%d %H:%M:%S', time_of(place) / 1000, 'unixepoch'), 'success', 'order-' || place FROM turn;
      INSERT INTO ledger_entry (previous, ${key}, seq, kind, at, wall, code, name, add_on, months, days, txn_id, after_code,
          after_name, after_add_on, after_start, after_anchor, after_months, after_days, after_end, after_since,
          after_goodwill_days)
        SELECT last_entry, ${key}, seq + 1, 'top_up', time_of(place),
          strftime('%Y-%m-%d %H:%M:%S', time_of(place) / 1000, 'unixepoch'), code, name, add_on, 1, 0, txn_id(place), code,
          name, add_on, start_time, anchor_time, months + 1, days, end_time, since, goodwill_days FROM turn;
      UPDATE subscription AS s SET seq = s.seq + 1, months = s.months + 1, end_time = e.after_end, last_entry = e.id
        FROM ledger_entry AS e WHERE e.id > ${id} AND e.previous = s.last_entry AND e.cuid = s.cuid AND e.plan = s.plan;
      DROP TABLE turn; COMMIT`);
  }
  database.exec(`INSERT INTO sales_day SELECT partner_id, environment, substr(txn_date, 1, 10), service, bouquet_code,
    amount, substr(txn_date, 1, 10), 1, count(*), sum(commission), 0, 0 FROM top_up WHERE checkout_id LIKE 'past-%'
    GROUP BY 1, 2, 3, 4, 5, 6`);
  database.close();
  return total;
}

function txnIdAt(at: number, index: number): string {
  const random = new Uint8Array(10);
  new DataView(random.buffer).setUint32(0, index);
  return formatTransactionId(at, randomDigits(random));
}
