import type { Service } from "../../domain/bouquet.ts";
import type { Instant } from "../../domain/calendar.ts";
import type { Connection } from "../../domain/customer.ts";
import type { ImportedChange } from "../../domain/customer-audit.ts";
import { changeCustomer, type ImportMode } from "../../domain/customer-import.ts";
import type { StatedCustomer } from "../../domain/customer-row.ts";
import type { ConnectionLedger, CustomerWithLedgers } from "../../domain/known-connections.ts";
import { AS_WRITTEN } from "../../domain/mobile-number.ts";
import type { Subscription } from "../../domain/subscription.ts";
import type { ProviderSettings } from "../store.ts";
import {
  type ConnectionRow,
  type CustomerRow,
  type GrantRow,
  type SubscriptionRow,
  toConnection,
  toGrant,
  toProfile,
  toSubscription,
} from "./rows.ts";
import { isPrunedBefore } from "./transaction-search.ts";

type OfCustomer = { readonly cuid: string };
type OfConnection = OfCustomer & { readonly service: Service; readonly req_id: string };
type OfPlan = OfConnection & { readonly plan: string };

type StoredCustomerRow = CustomerRow & { readonly mobile_e164: string | null };

/** With an `id` where the store numbers grants. */
type StoredGrantRow = GrantRow & OfPlan & { readonly seq: number; readonly id?: number };

/** All that an import must know of some customers: who they are, what they have, and why. */
export interface StoredRows {
  readonly customers: readonly StoredCustomerRow[];
  /** Those of a customer by their position. */
  readonly connections: readonly (ConnectionRow & OfCustomer)[];
  readonly subscriptions: readonly (SubscriptionRow & OfConnection)[];
  /** Those of a plan by `seq`. */
  readonly grants: readonly StoredGrantRow[];
}

/** Customers of one environment. */
export class StoredCustomers {
  readonly #customers: ReadonlyMap<string, StoredCustomerRow>;
  readonly #connections: ReadonlyMap<string, StoredRows["connections"][number][]>;
  readonly #subscriptions: ReadonlyMap<string, StoredRows["subscriptions"][number][]>;
  readonly #grants: ReadonlyMap<string, StoredGrantRow[]>;
  readonly #ledgers: ReadonlyMap<string, StoredGrantRow[][]>;

  constructor({ customers, connections, subscriptions, grants }: StoredRows) {
    this.#customers = new Map(customers.map((row) => [row.cuid, row]));
    this.#connections = groupBy(connections, ({ cuid }) => cuid);
    this.#subscriptions = groupBy(subscriptions, (row) => nameOf(row.cuid, row.service, row.req_id));
    this.#grants = groupBy(grants, (row) => nameOf(row.cuid, row.service, row.req_id, row.plan));
    this.#ledgers = groupBy([...this.#grants.values()], ([first]) => (first as StoredGrantRow).cuid);
  }

  find(cuid: string): CustomerWithLedgers {
    const row = this.#customers.get(cuid);
    const connections = (this.#connections.get(cuid) ?? []).map(
      (connection): Connection => toConnection(connection, this.#subscriptionsOf(cuid, connection)),
    );
    return {
      customer: row && { connections, ...toProfile(row) },
      connections,
      mobileForm: row?.mobile_e164 ?? undefined,
      ledgers: (this.#ledgers.get(cuid) ?? []).map(toLedger),
    };
  }

  /** What an import at this time makes of one of them, or of a new one, as it is said to be. */
  change(stated: StatedCustomer, now: Instant, mode: ImportMode, provider: ProviderSettings): ImportedChange {
    const { calendar, normaliseMobile = AS_WRITTEN } = provider;
    const stored = this.find(stated.cuid);
    return {
      customer: stored.customer,
      change: changeCustomer(stored, stated, now, calendar, mode, normaliseMobile),
    };
  }

  /** A plan's last grant. */
  lastGrant(cuid: string, service: string, reqId: string, plan: string): StoredGrantRow | undefined {
    return this.#grants.get(nameOf(cuid, service, reqId, plan))?.at(-1);
  }

  #subscriptionsOf(cuid: string, { service, req_id }: ConnectionRow): Subscription[] {
    return (this.#subscriptions.get(nameOf(cuid, service, req_id)) ?? []).map(toSubscription);
  }
}

function toLedger(grants: readonly StoredGrantRow[]): ConnectionLedger {
  const [{ service, req_id: reqId, plan, seq }] = grants as [StoredGrantRow];
  return { service, reqId, plan, grants: grants.map(toGrant), isPruned: isPrunedBefore(seq) };
}

/** In runs in which nobody stands twice: who does is changed twice, the second time with the first in view. */
export function* withoutRepetition(customers: readonly StatedCustomer[]): Generator<StatedCustomer[]> {
  let once = new Map<string, StatedCustomer>();
  for (const customer of customers) {
    if (once.has(customer.cuid)) {
      yield [...once.values()];
      once = new Map();
    }
    once.set(customer.cuid, customer);
  }
  if (once.size > 0) yield [...once.values()];
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

/** No identifier holds a control character. */
function nameOf(...parts: readonly string[]): string {
  return parts.join("\u0000");
}
