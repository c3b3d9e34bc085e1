import type { Calendar, Instant } from "../../domain/calendar.ts";
import type { Connection, ConnectionKey, Customer, Environment } from "../../domain/customer.ts";
import {
  type CustomerChange,
  type CustomerWithLedgers,
  changeCustomer,
  type ImportMode,
} from "../../domain/customer-import.ts";
import type { StatedCustomer } from "../../domain/customer-row.ts";
import { type ConnectionRow, type CustomerRow, toConnection, toProfile } from "../common/rows.ts";
import type { FoundConnection } from "../store.ts";
import type { Database } from "./database.ts";
import type { SubscriptionTables } from "./subscriptions.ts";

/** The SQL of customers, their connections, and the codes by which they are found. */
export class CustomerTables {
  readonly #subscriptions: SubscriptionTables;
  readonly #cuidsByCode;
  readonly #customer;
  readonly #connections;
  readonly #connection;
  readonly #markToppedUp;
  readonly #putCustomer;
  readonly #putConnection;
  readonly #deleteConnection;
  readonly #putCode;
  readonly #deleteCode;

  constructor(database: Database, subscriptions: SubscriptionTables) {
    this.#subscriptions = subscriptions;
    this.#cuidsByCode = database.prepare("SELECT cuid FROM customer_code WHERE code = ? AND environment = ? LIMIT 2");
    this.#customer = database.prepare(
      "SELECT cuid, first_name, last_name, mobile, status FROM customer WHERE cuid = ? AND environment = ?",
    );
    this.#connections = database.prepare(
      `SELECT service, req_id, status, topped_up, segment FROM connection
       WHERE cuid = ? AND environment = ? ORDER BY position`,
    );
    this.#connection = database.prepare(
      `SELECT service, req_id, status, topped_up, segment FROM connection
       WHERE cuid = ? AND environment = ? AND service = ? AND req_id = ?`,
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

  findByCode(environment: Environment, code: string): Customer[] {
    const rows = this.#cuidsByCode.all(code, environment) as { cuid: string }[];
    return rows.flatMap(({ cuid }) => this.#find(environment, cuid) ?? []);
  }

  findConnection(key: ConnectionKey): FoundConnection | undefined {
    const row = this.#customer.get(key.cuid, key.environment) as CustomerRow | undefined;
    if (row === undefined) return undefined;
    const connection = this.#connection.get(key.cuid, key.environment, key.service, key.reqId) as
      | ConnectionRow
      | undefined;
    return { profile: toProfile(row), connection: connection && this.#withSubscriptions(key, connection) };
  }

  markToppedUp({ cuid, environment, service, reqId }: ConnectionKey): void {
    this.#markToppedUp.run(cuid, environment, service, reqId);
  }

  /** To be called inside a write transaction. */
  import(environment: Environment, stated: StatedCustomer, now: Instant, mode: ImportMode, calendar: Calendar): void {
    const stored = this.#findWithLedgers(environment, stated.cuid);
    this.#write(environment, changeCustomer(stored, stated, now, calendar, mode));
  }

  #find(environment: Environment, cuid: string): Customer | undefined {
    const row = this.#customer.get(cuid, environment) as CustomerRow | undefined;
    if (row === undefined) return undefined;
    const connections = this.#connections.all(cuid, environment) as ConnectionRow[];
    return {
      ...toProfile(row),
      connections: connections.map((connection) =>
        this.#withSubscriptions(
          { environment, cuid, service: connection.service, reqId: connection.req_id },
          connection,
        ),
      ),
    };
  }

  #withSubscriptions(key: ConnectionKey, row: ConnectionRow): Connection {
    return toConnection(row, this.#subscriptions.list(key));
  }

  #findWithLedgers(environment: Environment, cuid: string): CustomerWithLedgers | undefined {
    const customer = this.#find(environment, cuid);
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
