import { customerDigest } from "../../domain/checkout.ts";
import type { Connection, ConnectionKey, Customer, Environment } from "../../domain/customer.ts";
import {
  type ConnectionRow,
  type CustomerRow,
  type SubscriptionRow,
  toConnection,
  toProfile,
  toSubscription,
} from "../common/rows.ts";
import type { FoundConnection } from "../store.ts";
import type { Database } from "./database.ts";
import type { Statement } from "./session.ts";

const CUIDS: Statement = {
  name: "cuids",
  text: "SELECT cuid FROM customer_code WHERE code = $1 AND environment = $2 LIMIT 2",
};

/*
 * A customer with connections and subscriptions comes in one statement, which sees one moment: a row for
 * each subscription, what stands above it repeated.
 */
const CUSTOMER = `SELECT c.cuid, c.first_name, c.last_name, c.mobile, c.status,
    n.service, n.req_id, n.status AS connection_status, n.topped_up, n.segment,
    s.plan, s.code, s.name, s.add_on, s.start_at, s.end_at, s.months, s.days, s.seconds,
    s.topped_up_months, s.topped_up_days, s.granted_end_at
  FROM customer AS c`;
const SUBSCRIPTIONS = `LEFT JOIN subscription AS s ON s.customer_digest = n.customer_digest
    AND s.environment = n.environment AND s.cuid = n.cuid AND s.service = n.service AND s.req_id = n.req_id`;
const THIS_CUSTOMER = "WHERE c.customer_digest = $1 AND c.environment = $2 AND c.cuid = $3";

export const WHOLE_CUSTOMER: Statement = {
  name: "customer",
  text: `${CUSTOMER}
    LEFT JOIN connection AS n ON n.customer_digest = c.customer_digest
      AND n.environment = c.environment AND n.cuid = c.cuid
    ${SUBSCRIPTIONS} ${THIS_CUSTOMER} ORDER BY n.position, s.add_on, s.start_at, s.plan`,
};
export const ONE_CONNECTION: Statement = {
  name: "connection",
  text: `${CUSTOMER}
    LEFT JOIN connection AS n ON n.customer_digest = c.customer_digest
      AND n.environment = c.environment AND n.cuid = c.cuid AND n.service = $4 AND n.req_id = $5
    ${SUBSCRIPTIONS} ${THIS_CUSTOMER} ORDER BY s.add_on, s.start_at, s.plan`,
};

/** What is null is not there. */
type JoinedRow = CustomerRow &
  Omit<ConnectionRow, "req_id"> &
  Omit<SubscriptionRow, "plan"> & {
    req_id: string | null;
    connection_status: ConnectionRow["status"];
    plan: string | null;
  };

/** The SQL by which customers are found. */
export class CustomerTables {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async findByCode(environment: Environment, code: string): Promise<Customer[]> {
    const found = await this.#database.ask<{ cuid: string }>(CUIDS, [code, environment]);
    const customers = await Promise.all(found.map(({ cuid }) => this.#find(environment, cuid)));
    return customers.flatMap((customer) => customer ?? []);
  }

  async findConnection(key: ConnectionKey): Promise<FoundConnection | undefined> {
    const values = [customerDigest(key), key.environment, key.cuid, key.service, key.reqId];
    const rows = await this.#database.ask<JoinedRow>(ONE_CONNECTION, values);
    const [first] = rows;
    return first && { profile: toProfile(first), connection: toConnections(rows)[0] };
  }

  async #find(environment: Environment, cuid: string): Promise<Customer | undefined> {
    const values = [customerDigest({ environment, cuid }), environment, cuid];
    const rows = await this.#database.ask<JoinedRow>(WHOLE_CUSTOMER, values);
    const [first] = rows;
    return first && { ...toProfile(first), connections: toConnections(rows) };
  }
}

function toConnections(rows: readonly JoinedRow[]): Connection[] {
  const connections: Connection[] = [];
  for (let start = 0; start < rows.length; ) {
    const { service, req_id } = rows[start] as JoinedRow;
    let end = start + 1;
    while (rows[end]?.service === service && rows[end]?.req_id === req_id) end += 1;
    if (req_id !== null) connections.push(toOneConnection(rows.slice(start, end), req_id));
    start = end;
  }
  return connections;
}

/** @param rows of one connection, one for each of its subscriptions. */
function toOneConnection(rows: readonly JoinedRow[], reqId: string): Connection {
  const [{ service, connection_status: status, topped_up, segment }] = rows as [JoinedRow];
  const subscriptions = rows.flatMap((row) => (row.plan === null ? [] : [toSubscription({ ...row, plan: row.plan })]));
  return toConnection({ service, req_id: reqId, status, topped_up, segment }, subscriptions);
}
