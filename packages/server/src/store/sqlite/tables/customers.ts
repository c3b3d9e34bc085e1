import type { ConnectionKey, Customer, CustomerOverview, Environment } from "../../../domain/customer.ts";
import { JOINED_COLUMNS, joinedRow, toConnections, toCustomers } from "../../common/customer-join.ts";
import { overviewColumns, overviewRow, toOverviews } from "../../common/customer-overview.ts";
import { toProfile } from "../../common/rows.ts";
import type { FoundConnection } from "../../store.ts";
import type { Database } from "../database.ts";
import { LEVEL } from "./levels.ts";

// Without ORDER BY, for which SQLite would sort: as the joins are nested, what belongs together comes together.
const SELECT = `SELECT ${JOINED_COLUMNS} FROM`;
export const CONNECTIONS = "LEFT JOIN connection AS n ON n.cuid = c.cuid AND n.environment = c.environment";
const JOIN = `customer AS c ${CONNECTIONS}`;
export const SUBSCRIPTIONS = `LEFT JOIN subscription AS s ON s.cuid = n.cuid AND s.environment = n.environment
  AND s.service = n.service AND s.req_id = n.req_id`;

const BASE_END = `SELECT max(s.end_at) FROM subscription AS s WHERE s.cuid = n.cuid AND s.environment = n.environment
  AND s.service = n.service AND s.req_id = n.req_id AND s.add_on = 0`;
// Two customers are enough to know that a code is ambiguous. Only CROSS keeps SQLite from beginning with the customers.
const CODES = "(SELECT cuid FROM customer_code WHERE code = ?1 AND environment = ?2 LIMIT 2) AS k";
// The same for a mobile number in two forms. Whom both fit is one customer.
const TWO_CODES = "(SELECT DISTINCT cuid FROM customer_code WHERE code IN (?1, ?3) AND environment = ?2 LIMIT 2) AS k";
const OF_CODES = "c.cuid = k.cuid AND c.environment = ?2";

/** What every request asks. None of it may read what was granted, or it would take longer from year to year. */
export const FIND = {
  overviews: `SELECT ${overviewColumns(BASE_END)} FROM ${CODES} CROSS JOIN ${JOIN} WHERE ${OF_CODES}`,
  overviewsOfTwo: `SELECT ${overviewColumns(BASE_END)} FROM ${TWO_CODES} CROSS JOIN ${JOIN} WHERE ${OF_CODES}`,
  byCuid: `${SELECT} ${JOIN} ${SUBSCRIPTIONS} WHERE c.cuid = ?1 AND c.environment = ?2`,
  connection: `${SELECT} ${JOIN} AND n.service = ?3 AND n.req_id = ?4 ${SUBSCRIPTIONS}
    WHERE c.cuid = ?1 AND c.environment = ?2`,
};
/** The row of a connection, for its customer's cuid, the environment, its service and its req_id. */
export const OF_CONNECTION = `cuid = ? AND environment = ? AND level = ${LEVEL.connection} AND service = ? AND req_id = ?`;
export const MARK_TOPPED_UP = `UPDATE customer_row SET topped_up = 1 WHERE ${OF_CONNECTION}`;

/** The SQL of customers, their connections, and the codes by which they are found. */
export class CustomerTables {
  readonly #overviews;
  readonly #overviewsOfTwo;
  readonly #byCuid;
  readonly #connection;
  readonly #markToppedUp;

  constructor(database: Database) {
    this.#overviews = database.prepareRows(FIND.overviews);
    this.#overviewsOfTwo = database.prepareRows(FIND.overviewsOfTwo);
    this.#byCuid = database.prepareRows(FIND.byCuid);
    this.#connection = database.prepareRows(FIND.connection);
    this.#markToppedUp = database.prepare(MARK_TOPPED_UP);
  }

  /** @param normal the code in another form, by which it may also be found. */
  lookUp(environment: Environment, code: string, normal?: string): CustomerOverview[] {
    const rows =
      normal === undefined ? this.#overviews(code, environment) : this.#overviewsOfTwo(code, environment, normal);
    return toOverviews(rows.map(overviewRow));
  }

  findByCuid(environment: Environment, cuid: string): Customer | undefined {
    return toCustomers(this.#byCuid(cuid, environment).map(joinedRow))[0];
  }

  findConnection({ cuid, environment, service, reqId }: ConnectionKey): FoundConnection | undefined {
    const rows = this.#connection(cuid, environment, service, reqId).map(joinedRow);
    const [first] = rows;
    return first && { profile: toProfile(first), connection: toConnections(rows)[0] };
  }

  markToppedUp({ cuid, environment, service, reqId }: ConnectionKey): void {
    this.#markToppedUp.run(cuid, environment, service, reqId);
  }
}
