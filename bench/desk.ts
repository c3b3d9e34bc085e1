import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { appendHistory } from "./history.ts";
import { runTopupd } from "./processes.ts";
import { type Filled, fill } from "./world.ts";

/* A year of work of a large provider: everything that a page of the console lists, written by SQL beside the customers. */

const YEAR_DAYS = 365;
const DAY_MS = 86_400_000;

/** A customer whose page is measured. */
export const CUID = "20000000";
/** A partner without a top-up: lists of its top-ups read everything. */
export const IDLE_PARTNER = "idle";
export const TARGET = "crm";

/** Fills a SQLite database in a new folder. @param each number of top-ups of each customer. */
export async function fillDesk(folder: string, customers: number, each: number): Promise<Filled> {
  const filled = await fill(folder, customers);
  await runTopupd(["partner", "add", IDLE_PARTNER], { cwd: folder });
  const place = join(folder, "topupd.db");
  writeRows(place, spreadConnections(each));
  appendHistory(place, { each, days: YEAR_DAYS });
  writeRows(place, deskRows(Date.now(), customers));
  await runTopupd(["target", "add", TARGET, "--kind", "feed"], { cwd: folder });
  return filled;
}

function writeRows(place: string, statements: string): void {
  const database = new DatabaseSync(place);
  database.exec(`PRAGMA synchronous = OFF; BEGIN; ${statements}; COMMIT`);
  database.close();
}

/** Ends from 60 days before now to 300 days after it, once each has its top-ups; 20 segments; few blocks. */
function spreadConnections(each: number): string {
  const number = "cast(substr(cuid, 2) AS integer)";
  return `
    UPDATE subscription SET
      anchor_time = strftime('%Y-%m-%d %H:%M:%S', 'now', (${number} * 7919 % 360 - 60) || ' days',
        -(months + ${each}) || ' months', (${number} % 86400) || ' seconds');
    UPDATE connection SET segment = 'WARD-' || (${number} * 31 % 20) WHERE service = 'internet';
    UPDATE connection SET blocked = 1 WHERE service = 'internet' AND ${number} % 100000 = 99`;
}

function deskRows(now: number, customers: number): string {
  const times = (count: number) =>
    `(WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${count - 1}) SELECT i FROM n)`;
  const cuid = `'2' || substr('0000000' || (i * 7919 % ${customers}), -7)`;
  const reqId = `'user' || substr('0000000' || (i * 7919 % ${customers}), -7)`;
  const ago = (days: number, count: number) => `${now - days * DAY_MS} + i * ${Math.floor((days * DAY_MS) / count)}`;
  return `
    CREATE TEMP TABLE reversed AS SELECT txn_id, at FROM top_up WHERE substr(udf1, 7) % 1000 = 7;
    UPDATE top_up SET status = 'reversed' WHERE txn_id IN (SELECT txn_id FROM reversed);
    INSERT INTO reversal SELECT txn_id, 1, 'production', at + 3600000, strftime('%Y-%m-%d %H:%M:%S', at / 1000 + 3600, 'unixepoch'), 'maya',
      'The customer paid twice' FROM reversed;
    INSERT INTO sales_day SELECT r.partner_id, r.environment, substr(r.wall, 1, 10), service, bouquet_code, amount,
      substr(txn_date, 1, 10), 2, 0, 0, count(*), sum(commission) FROM reversal AS r JOIN top_up USING (txn_id)
      GROUP BY 1, 2, 3, 4, 5, 6, 7;
    DROP TABLE reversed;
    INSERT INTO refused_call (at, partner_id, environment, operation, reason, code, request_id)
      SELECT ${ago(30, 300_000)}, 1, 'production', 'get-customer-information', 'customer_not_found', '98' || (i * 7919),
        'request-' || i FROM ${times(300_000)};
    INSERT INTO audit_entry (at, author, by_staff, action, subject, reason, before, after, hash)
      SELECT ${ago(365, 100_000)}, 'staff-' || (i % 20), 1, 'subscription.goodwill',
        'production ' || ${cuid} || ' internet ' || ${reqId}, 'An outage in the ward', '{"end":"2026-11-01 09:00:00"}',
        '{"end":"2026-11-04 09:00:00"}', 'written by the bench' FROM ${times(100_000)};
    INSERT INTO held_back (environment, cuid, service, req_id, plan, code, kept_end, stated_end, line, source_row)
      SELECT 'production', ${cuid}, 'internet', ${reqId}, 'Fiber 100 Mbps', 'NET-1M', '2027-01-01 09:00:00',
        '2026-11-01 09:00:00', i + 1, '{}' FROM ${times(1_000)};
    INSERT INTO import_run (kind, environment, author, file, as_of, started_at, ended_at, outcome, report)
      SELECT kind, environment, author, file, as_of, started_at, ended_at, outcome, report
        FROM import_run CROSS JOIN ${times(30)} WHERE kind = 'customers';
    INSERT INTO bulk_run (environment, action, days, reason, author, state, created_at, started_at, changed_at, lines, count,
        repeated, starts_again, duplicates, problems, place, done)
      SELECT 'production', 'goodwill', 3, 'An outage in the ward', 'maya', 'done', ${now}, ${now}, ${now}, 100000, 99000, 0,
        0, 0, 1000, 100000, 100000 FROM ${times(100)};
    INSERT INTO bulk_line (run_id, number, line, text, cuid, service, req_id, problem)
      SELECT 1, i + 1, i + 1, ${cuid}, ${cuid}, 'internet', ${reqId}, CASE WHEN i % 100 = 99 THEN 'It is blocked' END
        FROM ${times(100_000)} WHERE i < ${customers}`;
}
