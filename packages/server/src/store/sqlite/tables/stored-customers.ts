import type { Environment } from "../../../domain/customer.ts";
import { GRANT_COLUMNS, SUBSCRIPTION_COLUMNS } from "../../common/rows.ts";
import { StoredCustomers, type StoredRows } from "../../common/stored-customers.ts";
import type { Database } from "../database.ts";

// A ledger outlives its customer, where one was removed by hand.
const KNOWN = `SELECT json_group_array(k.value) AS found FROM json_each(?1) AS k
  WHERE EXISTS (SELECT 1 FROM customer_row AS r WHERE r.cuid = k.value AND r.environment = ?2)`;
const NOTHING: StoredRows = { customers: [], connections: [], subscriptions: [], grants: [] };

/** Looks up many customers at a time, for an import. */
export class StoredCustomerTables {
  readonly #known;
  readonly #customers;
  readonly #connections;
  readonly #subscriptions;
  readonly #grants;

  constructor(database: Database) {
    const rows = (table: string, columns: string, order = "") => database.prepare(rowsAsJson(table, columns, order));
    this.#known = database.prepare(KNOWN);
    this.#customers = rows("customer", "cuid first_name last_name mobile status mobile_e164");
    this.#connections = rows("connection", "cuid service req_id status topped_up segment blocked", "position");
    this.#subscriptions = rows("subscription", `cuid service req_id plan ${SUBSCRIPTION_COLUMNS.join(" ")}`);
    this.#grants = rows("ledger_grant", `cuid service req_id plan seq id ${GRANT_COLUMNS.join(" ")}`, "seq");
  }

  find(environment: Environment, cuids: readonly string[]): StoredCustomers {
    const known = this.#ask(this.#known, environment, cuids) as readonly string[];
    if (known.length === 0) return new StoredCustomers(NOTHING);
    return new StoredCustomers({
      customers: this.#ask(this.#customers, environment, known) as StoredRows["customers"],
      connections: this.#ask(this.#connections, environment, known) as StoredRows["connections"],
      subscriptions: this.#ask(this.#subscriptions, environment, known) as StoredRows["subscriptions"],
      grants: this.#ask(this.#grants, environment, known) as StoredRows["grants"],
    });
  }

  #ask(statement: ReturnType<Database["prepare"]>, environment: Environment, cuids: readonly string[]): unknown {
    const row = statement.get(JSON.stringify(cuids), environment) as { readonly found: string };
    return JSON.parse(row.found);
  }
}

/** All rows come as one text: the driver hands over each column of each row by itself, which takes much longer. */
function rowsAsJson(table: string, columns: string, order: string): string {
  const members = columns.split(/\s+/).map((column) => `'${column}', t.${column}`);
  const orderBy = order === "" ? "" : ` ORDER BY t.${order}`;
  // CROSS JOIN keeps the order of the tables: a customer after the other, each by its key.
  return `SELECT json_group_array(json_object(${members.join(", ")})${orderBy}) AS found
    FROM json_each(?1) AS k CROSS JOIN ${table} AS t ON t.cuid = k.value AND t.environment = ?2`;
}
