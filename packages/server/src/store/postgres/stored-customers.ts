import type { Connection } from "../../domain/customer.ts";
import type { CustomerWithLedgers } from "../../domain/customer-import.ts";
import type { Grant, Subscription } from "../../domain/subscription.ts";
import {
  type ConnectionRow,
  type CustomerRow,
  type GrantRow,
  type SubscriptionRow,
  toConnection,
  toGrant,
  toProfile,
  toSubscription,
} from "../common/rows.ts";
import type { Statement } from "./session.ts";

const THESE = "WHERE customer_digest = ANY($1::bigint[]) AND environment = $2";

/** All that an import must know of some customers, who are locked: who they are, what they have, and why. */
export const LOAD_STORED: readonly Statement[] = [
  { name: "stored_customers", text: `SELECT * FROM customer ${THESE}` },
  { name: "stored_connections", text: `SELECT * FROM connection ${THESE} ORDER BY cuid, position` },
  { name: "stored_subscriptions", text: `SELECT * FROM subscription ${THESE}` },
  { name: "stored_grants", text: `SELECT * FROM subscription_grant ${THESE} ORDER BY seq` },
];

interface OfCustomer {
  cuid: string;
}
interface OfConnection extends OfCustomer {
  service: string;
  req_id: string;
}

/** Customers of one environment, out of the rows that {@link LOAD_STORED} finds. */
export class StoredCustomers {
  readonly #customers: ReadonlyMap<string, CustomerRow>;
  readonly #connections: ReadonlyMap<string, (ConnectionRow & OfCustomer)[]>;
  readonly #subscriptions: ReadonlyMap<string, (SubscriptionRow & OfConnection)[]>;
  readonly #grants: ReadonlyMap<string, (GrantRow & OfConnection & { plan: string })[]>;

  constructor([customers = [], connections = [], subscriptions = [], grants = []]: readonly unknown[][]) {
    this.#customers = new Map((customers as CustomerRow[]).map((row) => [row.cuid, row]));
    this.#connections = groupBy(connections as (ConnectionRow & OfCustomer)[], ({ cuid }) => cuid);
    this.#subscriptions = groupBy(subscriptions as (SubscriptionRow & OfConnection)[], (row) =>
      nameOf(row.cuid, row.service, row.req_id),
    );
    this.#grants = groupBy(grants as (GrantRow & OfConnection & { plan: string })[], (row) =>
      nameOf(row.cuid, row.service, row.req_id, row.plan),
    );
  }

  find(cuid: string): CustomerWithLedgers | undefined {
    const row = this.#customers.get(cuid);
    if (row === undefined) return undefined;
    const connections = (this.#connections.get(cuid) ?? []).map(
      (connection): Connection => toConnection(connection, this.#subscriptionsOf(cuid, connection)),
    );
    return {
      customer: { ...toProfile(row), connections },
      ledger: (service, reqId, plan): Grant[] =>
        (this.#grants.get(nameOf(cuid, service, reqId, plan)) ?? []).map(toGrant),
    };
  }

  #subscriptionsOf(cuid: string, { service, req_id }: ConnectionRow): Subscription[] {
    return (this.#subscriptions.get(nameOf(cuid, service, req_id)) ?? []).map(toSubscription);
  }
}

function groupBy<Row>(rows: readonly Row[], nameOfRow: (row: Row) => string): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const name = nameOfRow(row);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [row]);
    else group.push(row);
  }
  return groups;
}

function nameOf(...parts: readonly string[]): string {
  return JSON.stringify(parts);
}
