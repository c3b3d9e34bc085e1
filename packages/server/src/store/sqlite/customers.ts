import type { ConnectionKey, CustomerOverview, Environment } from "../../domain/customer.ts";
import { type CustomerConnectionRow, HEAD_COLUMNS, type OverviewRow, toFoundConnection, toOverviews } from "../rows.ts";
import { codesToFind } from "../settings.ts";
import type { FoundConnection, ProviderSettings } from "../store.ts";
import type { Database } from "./database.ts";

/** A row for each connection, in any order: SQLite need not sort. Only CROSS keeps it from beginning with the customers. */
const overviewsOf = (cuids: string) => `SELECT c.cuid, c.first_name, c.last_name, c.mobile, c.status,
    n.service, n.req_id, n.position, n.status AS connection_status, n.blocked,
    (SELECT max(s.end_time) FROM subscription AS s WHERE s.cuid = n.cuid AND s.environment = n.environment
      AND s.service = n.service AND s.req_id = n.req_id AND s.add_on = 0) AS base_end
  FROM (${cuids}) AS k
  CROSS JOIN customer AS c ON c.cuid = k.cuid AND c.environment = ?2
  LEFT JOIN connection AS n ON n.cuid = c.cuid AND n.environment = c.environment`;
const OF_CODE = "SELECT cuid FROM customer_code WHERE code = ?1 AND environment = ?2 LIMIT 2";
/** By a mobile number in two forms. Whom both fit is one customer. */
const OF_TWO_CODES = "SELECT DISTINCT cuid FROM customer_code WHERE code IN (?1, ?3) AND environment = ?2 LIMIT 2";

/** A row for each ledger of the connection, or of one that is gone; where the customer has no such connection, one without. */
const CONNECTION = `SELECT c.first_name, c.last_name, c.mobile, c.status AS customer_status,
    n.service, n.req_id, n.status, n.blocked, n.segment,
    s.plan, s.last_entry, ${HEAD_COLUMNS.map((column) => `s.${column}`).join(", ")}
  FROM customer AS c
  LEFT JOIN connection AS n ON n.cuid = ?1 AND n.environment = ?2 AND n.service = ?3 AND n.req_id = ?4
  LEFT JOIN subscription AS s ON s.cuid = ?1 AND s.environment = ?2 AND s.service = ?3 AND s.req_id = ?4
  WHERE c.cuid = ?1 AND c.environment = ?2`;

export interface ConnectionToTopUp {
  readonly found: FoundConnection | undefined;
  /** The row of the last entry of a plan's ledger; undefined if there is none. */
  readonly lastEntryOf: (plan: string) => number | undefined;
}

export type CustomerTables = ReturnType<typeof customerTables>;

/** What partners' requests ask of customers. None of it reads ledgers, or it would take longer from year to year. */
export function customerTables(database: Database, provider: ProviderSettings) {
  type Row = OverviewRow & { readonly position: number | null };
  type LedgerRow = CustomerConnectionRow & { readonly plan: string | null; readonly last_entry: number };
  const ofCode = database.prepareRows<Row>(overviewsOf(OF_CODE));
  const ofTwoCodes = database.prepareRows<Row>(overviewsOf(OF_TWO_CODES));
  const connection = database.prepareRows<LedgerRow>(CONNECTION);
  return {
    lookUp(environment: Environment, code: string): CustomerOverview[] {
      const [first, second] = codesToFind(code, provider);
      const rows = second === undefined ? ofCode(first, environment) : ofTwoCodes(first, environment, second);
      if (rows.length > 1) rows.sort((a, b) => (a.position ?? 0) - (b.position ?? 0));
      return toOverviews(rows);
    },

    findConnection({ cuid, environment, service, reqId }: ConnectionKey): FoundConnection | undefined {
      return toFoundConnection(cuid, connection(cuid, environment, service, reqId));
    },

    /** The same, with what a top-up appends to. */
    findToTopUp({ cuid, environment, service, reqId }: ConnectionKey): ConnectionToTopUp {
      const rows = connection(cuid, environment, service, reqId);
      const lastEntryOf = (plan: string) => rows.find((row) => row.plan === plan)?.last_entry;
      return { found: toFoundConnection(cuid, rows), lastEntryOf };
    },
  };
}
