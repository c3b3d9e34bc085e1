import type { CustomerOverview, Environment } from "../domain/customer.ts";
import type { Transaction } from "../domain/transaction.ts";
import type { WallTime } from "../domain/wall-time.ts";
import {
  CONNECTION_KEY,
  CONNECTION_STATE,
  type CustomerConnectionRow,
  HEAD_COLUMNS,
  type ProfileRow,
  toFoundConnection,
  toRetired,
  toTransaction,
} from "./rows.ts";
import { codesToFind } from "./settings.ts";
import type { ProviderSettings, Store } from "./store.ts";
import { isAsked, qualified } from "./table.ts";
import { columnsOf, type RawRow, TABLES } from "./tables.ts";

/* The reads of partners' calls, in one text for both engines. They read no ledgers, which would take longer every year. */

/** An engine, as these reads see it. */
export interface Reader {
  /** The word that joins tables in their written order. SQLite would turn it round. */
  readonly join: "JOIN" | "CROSS JOIN";
  /** Finds a row if a partner has topped up a customer: cuid, environment and partner's id are `$1` to `$3`. */
  readonly toppedUp: string;
  /** Prepares a query. Its parameters are `$1` and so on. */
  readonly prepare: <Row>(name: string, text: string) => Asking<Row>;
}

interface Asking<Row> {
  /** Reads from a view that the requests of a moment may share. */
  readonly ask: (...values: (string | number)[]) => Promise<Row[]>;
  /** Reads everything that any process has answered. Undefined if `ask` does. */
  readonly askNow?: (...values: (string | number)[]) => Promise<Row[]>;
}

/** Columns of connection (`n`) and subscription (`s`). */
export const CONNECTION_WITH_HEADS = `${qualified("n", [...CONNECTION_KEY, ...CONNECTION_STATE])}, s.plan,
  ${qualified("s", HEAD_COLUMNS)}`;

/** One row for each ledger of a connection; one row without a ledger if there is none. @param more columns that follow. */
export const connectionQuery = (more = "") => `SELECT c.first_name, c.last_name, c.mobile, c.status AS customer_status,
    ${CONNECTION_WITH_HEADS} ${more}
  FROM customer AS c
  LEFT JOIN connection AS n ON n.cuid = c.cuid AND n.environment = c.environment AND n.service = $3 AND n.req_id = $4
  LEFT JOIN subscription AS s ON ${isAsked("s", CONNECTION_KEY, "n")}
  WHERE c.cuid = $1 AND c.environment = $2`;

const overviewsQuery = (cuids: string, join: string) => `SELECT c.cuid, c.first_name, c.last_name, c.mobile, c.status,
    n.service, n.req_id, n.position, n.status AS connection_status, n.blocked,
    (SELECT max(s.end_time) FROM subscription AS s WHERE ${isAsked("s", CONNECTION_KEY, "n")} AND s.add_on = 0) AS base_end
  FROM (${cuids}) AS k
  ${join} customer AS c ON c.cuid = k.cuid AND c.environment = $2
  LEFT JOIN connection AS n ON ${isAsked("n", TABLES.customer.key, "c")}`;
const OF_CODE = "SELECT cuid FROM customer_code WHERE code = $1 AND environment = $2 LIMIT 2";
/** Finds a mobile number in two forms. A customer found by both counts once. */
const OF_TWO_CODES = "SELECT DISTINCT cuid FROM customer_code WHERE code IN ($1, $3) AND environment = $2 LIMIT 2";

const TRANSACTION = `SELECT ${columnsOf("top_up").join(", ")} FROM top_up WHERE checkout_id = $1`;
const RETIRED = `SELECT ${columnsOf("retired_checkout").join(", ")} FROM retired_checkout WHERE checkout_id = $1`;

type Reads = Pick<Store, "lookUpCustomers" | "findConnection" | "hasToppedUp" | "findTransaction" | "findOutcome">;

export function partnerReads({ join, toppedUp: toppedUpQuery, prepare }: Reader, provider: ProviderSettings): Reads {
  const ofCode = prepare<OverviewRow>("overviews", overviewsQuery(OF_CODE, join));
  const ofTwoCodes = prepare<OverviewRow>("overviews_two", overviewsQuery(OF_TWO_CODES, join));
  const connection = prepare<CustomerConnectionRow>("connection", connectionQuery());
  const toppedUp = prepare("topped_up", toppedUpQuery);
  const transaction = prepare<RawRow<"top_up">>("transaction", TRANSACTION);
  const retired = prepare<RawRow<"retired_checkout">>("retired", RETIRED);

  /** A recorded top-up stays recorded. "Not recorded" must be true of everything answered so far. */
  const findTransaction = async (checkoutId: string): Promise<Transaction | undefined> => {
    let [row] = await transaction.ask(checkoutId);
    if (row === undefined && transaction.askNow !== undefined) [row] = await transaction.askNow(checkoutId);
    return row && toTransaction(row);
  };

  return {
    findTransaction,

    /** Two reads are safe: a recorded top-up stays, and its checkout is never retired. */
    async findOutcome(checkoutId) {
      const found = await findTransaction(checkoutId);
      if (found !== undefined) return found;
      const [row] = await (retired.askNow ?? retired.ask)(checkoutId);
      return row && toRetired(row);
    },

    async lookUpCustomers(environment: Environment, code: string) {
      const [first, second] = codesToFind(code, provider);
      const rows = second === undefined ? ofCode.ask(first, environment) : ofTwoCodes.ask(first, environment, second);
      return toOverviews(await rows);
    },

    async findConnection({ cuid, environment, service, reqId }) {
      return toFoundConnection(cuid, await connection.ask(cuid, environment, service, reqId));
    },

    async hasToppedUp(partnerId, environment, cuid) {
      return (await toppedUp.ask(cuid, environment, partnerId)).length > 0;
    },
  };
}

/** One row for each connection of a customer; one row with null columns if there is no connection. */
type OverviewRow = ProfileRow &
  (
    | (Pick<RawRow<"connection">, "service" | "req_id" | "position" | "blocked"> & {
        readonly connection_status: RawRow<"connection">["status"];
        readonly base_end: WallTime | null;
      })
    | { readonly req_id: null; readonly position: null }
  );

function toOverviews(rows: readonly OverviewRow[]): CustomerOverview[] {
  const found = new Map<string, CustomerOverview & { connections: CustomerOverview["connections"][number][] }>();
  for (const row of rows.length > 1 ? rows.toSorted((a, b) => (a.position ?? 0) - (b.position ?? 0)) : rows) {
    let overview = found.get(row.cuid);
    if (overview === undefined) {
      const { cuid, first_name: firstName, last_name: lastName, mobile, status } = row;
      overview = { cuid, firstName, lastName, mobile: mobile ?? undefined, status, connections: [] };
      found.set(cuid, overview);
    }
    if (row.req_id === null) continue;
    const { service, req_id: reqId, connection_status: status, blocked, base_end: baseEnd } = row;
    overview.connections.push({ service, reqId, status, blocked: blocked === 1, baseEnd: baseEnd ?? undefined });
  }
  return [...found.values()];
}
