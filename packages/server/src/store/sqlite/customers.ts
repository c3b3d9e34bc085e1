import type { Calendar, Instant } from "../../domain/calendar.ts";
import type { ConnectionKey, Customer, CustomerOverview, Environment } from "../../domain/customer.ts";
import {
  type CustomerChange,
  type CustomerWithLedgers,
  changeCustomer,
  type ImportMode,
} from "../../domain/customer-import.ts";
import type { StatedCustomer } from "../../domain/customer-row.ts";
import { JOINED_COLUMNS, joinedRow, toConnections, toCustomers } from "../common/customer-join.ts";
import { overviewColumns, overviewRow, toOverviews } from "../common/customer-overview.ts";
import { toProfile } from "../common/rows.ts";
import type { FoundConnection } from "../store.ts";
import type { Database } from "./database.ts";
import type { SubscriptionTables } from "./subscriptions.ts";

// Without ORDER BY, for which SQLite would sort: as the joins are nested, what belongs together comes together.
const SELECT = `SELECT ${JOINED_COLUMNS} FROM`;
const JOIN = `customer AS c
  LEFT JOIN connection AS n ON n.cuid = c.cuid AND n.environment = c.environment`;
const SUBSCRIPTIONS = `LEFT JOIN subscription AS s ON s.cuid = n.cuid AND s.environment = n.environment
  AND s.service = n.service AND s.req_id = n.req_id`;

const BASE_END = `SELECT max(s.end_at) FROM subscription AS s WHERE s.cuid = n.cuid AND s.environment = n.environment
  AND s.service = n.service AND s.req_id = n.req_id AND s.add_on = 0`;
// Two customers are enough to know that a code is ambiguous. Only CROSS keeps SQLite from beginning with the customers.
const CODES = "(SELECT cuid FROM customer_code WHERE code = ?1 AND environment = ?2 LIMIT 2) AS k";
const OF_CODES = "c.cuid = k.cuid AND c.environment = ?2";

/** The SQL of customers, their connections, and the codes by which they are found. */
export class CustomerTables {
  readonly #subscriptions: SubscriptionTables;
  readonly #overviews;
  readonly #byCode;
  readonly #byCuid;
  readonly #connection;
  readonly #markToppedUp;
  readonly #putCustomer;
  readonly #putConnection;
  readonly #deleteConnection;
  readonly #putCode;
  readonly #deleteCode;

  constructor(database: Database, subscriptions: SubscriptionTables) {
    this.#subscriptions = subscriptions;
    this.#overviews = database.prepareRows(
      `SELECT ${overviewColumns(BASE_END)} FROM ${CODES} CROSS JOIN ${JOIN} WHERE ${OF_CODES}`,
    );
    this.#byCode = database.prepareRows(`${SELECT} ${CODES} CROSS JOIN ${JOIN} ${SUBSCRIPTIONS} WHERE ${OF_CODES}`);
    this.#byCuid = database.prepareRows(`${SELECT} ${JOIN} ${SUBSCRIPTIONS} WHERE c.cuid = ? AND c.environment = ?`);
    this.#connection = database.prepareRows(
      `${SELECT} ${JOIN} AND n.service = ?3 AND n.req_id = ?4 ${SUBSCRIPTIONS} WHERE c.cuid = ?1 AND c.environment = ?2`,
    );
    this.#markToppedUp = database.prepare(
      "UPDATE connection SET topped_up = 1 WHERE cuid = ? AND environment = ? AND service = ? AND req_id = ?",
    );
    this.#putCustomer = database.prepare(
      "INSERT OR REPLACE INTO customer (cuid, environment, first_name, last_name, mobile, status) VALUES (?, ?, ?, ?, ?, ?)",
    );
    this.#putConnection = database.prepare(
      `INSERT OR REPLACE INTO connection (cuid, environment, service, req_id, position, status, topped_up, segment)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#deleteConnection = database.prepare(
      "DELETE FROM connection WHERE cuid = ? AND environment = ? AND service = ? AND req_id = ?",
    );
    this.#putCode = database.prepare("INSERT OR IGNORE INTO customer_code (code, environment, cuid) VALUES (?, ?, ?)");
    this.#deleteCode = database.prepare("DELETE FROM customer_code WHERE code = ? AND environment = ? AND cuid = ?");
  }

  lookUp(environment: Environment, code: string): CustomerOverview[] {
    return toOverviews(this.#overviews(code, environment).map(overviewRow));
  }

  findByCode(environment: Environment, code: string): Customer[] {
    return toCustomers(this.#byCode(code, environment).map(joinedRow));
  }

  findConnection({ cuid, environment, service, reqId }: ConnectionKey): FoundConnection | undefined {
    const rows = this.#connection(cuid, environment, service, reqId).map(joinedRow);
    const [first] = rows;
    return first && { profile: toProfile(first), connection: toConnections(rows)[0] };
  }

  markToppedUp({ cuid, environment, service, reqId }: ConnectionKey): void {
    this.#markToppedUp.run(cuid, environment, service, reqId);
  }

  /** To be called inside a write transaction. */
  import(environment: Environment, stated: StatedCustomer, now: Instant, mode: ImportMode, calendar: Calendar): void {
    const stored = this.#findWithLedgers(environment, stated.cuid);
    this.#write(environment, changeCustomer(stored, stated, now, calendar, mode));
  }

  #findWithLedgers(environment: Environment, cuid: string): CustomerWithLedgers | undefined {
    const [customer] = toCustomers(this.#byCuid(cuid, environment).map(joinedRow));
    if (customer === undefined) return undefined;
    return {
      customer,
      ledger: (service, reqId, plan) => this.#subscriptions.ledger({ environment, cuid, service, reqId }, plan),
    };
  }

  #write(environment: Environment, change: CustomerChange): void {
    const { cuid, firstName, lastName, mobile, status } = change.profile;
    this.#putCustomer.run(cuid, environment, firstName, lastName, mobile ?? null, status);
    for (const { service, reqId } of change.removedConnections)
      this.#deleteConnection.run(cuid, environment, service, reqId);
    for (const [position, connection] of change.connections.entries()) {
      const { service, reqId, toppedUp, segment } = connection;
      const state = [position, connection.status, toppedUp ? 1 : 0, segment ?? null];
      this.#putConnection.run(cuid, environment, service, reqId, ...state);
    }
    for (const code of change.removedCodes) this.#deleteCode.run(code, environment, cuid);
    for (const code of change.addedCodes) this.#putCode.run(code, environment, cuid);
    for (const { service, reqId, plan, grant, subscription } of change.entries) {
      this.#subscriptions.append({ environment, cuid, service, reqId }, plan, grant, subscription);
    }
  }
}
