import type { Calendar, Instant } from "../../../domain/calendar.ts";
import type { Catalogue } from "../../../domain/catalogue.ts";
import { wasRetiredDead } from "../../../domain/checkout.ts";
import type { Connection, ConnectionKey, Environment, WireStatus } from "../../../domain/customer.ts";
import { isCheckoutFromBefore } from "../../../domain/pruning.ts";
import type { Subscription } from "../../../domain/subscription.ts";
import { decideTopUp, type TopUpCommand, type TopUpOutcome, type Transaction } from "../../../domain/top-up.ts";
import { refuseWhereClockWasSet } from "../../common/clock-set.ts";
import {
  type ConnectionRow,
  type SubscriptionRow,
  type TopUpRow,
  toConnection,
  toSubscription,
  toTransaction,
} from "../../common/rows.ts";
import type { Conclusion } from "../../store.ts";

export interface LockedCustomer {
  environment: Environment;
  cuid: string;
  status: WireStatus;
}

/** A connection, repeated for each of its subscriptions. */
export type ConnectionRows = ConnectionRow &
  Omit<SubscriptionRow, "plan"> & { environment: Environment; cuid: string; plan: string | null };

/** What is on record of a checkout that was asked for; without a transaction, all but these two is null. */
export type CheckoutRow = { asked: string; retired_at: Instant | null } & (TopUpRow | { checkout_id: null });

type Recorded = Extract<TopUpOutcome, { kind: "recorded" }>;

/**
 * What a batch has loaded, and what its decisions change of it: each decision sees the ones before it. What
 * must be written gathers in `recorded`, `retired` and `activated`.
 */
export class Snapshot {
  readonly recorded: Recorded[] = [];
  /** The checkoutIds with which nothing may be recorded any more. */
  readonly retired = new Set<string>();
  /** Connections that no top-up had made active yet. */
  readonly activated: ConnectionKey[] = [];

  readonly #statuses: ReadonlyMap<string, WireStatus>;
  readonly #connections: Map<string, Connection>;
  readonly #transactions = new Map<string, Transaction>();
  readonly #retired = new Map<string, Instant>();
  readonly #catalogues: ReadonlyMap<number, Catalogue>;
  readonly #prunedBefore: Instant | undefined;

  /** @param prunedBefore the horizon, where a checkout is so old that it may matter. */
  constructor(
    customers: readonly LockedCustomer[],
    connections: readonly ConnectionRows[],
    checkouts: readonly CheckoutRow[],
    catalogues: ReadonlyMap<number, Catalogue>,
    prunedBefore: Instant | undefined,
  ) {
    this.#statuses = new Map(customers.map((row) => [customerName(row), row.status]));
    this.#connections = gatherConnections(connections);
    for (const row of checkouts) {
      if (row.retired_at !== null) this.#retired.set(row.asked, row.retired_at);
      if (row.checkout_id !== null) this.#transactions.set(row.asked, toTransaction(row));
    }
    this.#catalogues = catalogues;
    this.#prunedBefore = prunedBefore;
  }

  topUp(command: TopUpCommand, now: Instant, calendar: Calendar): TopUpOutcome {
    const name = connectionName(command);
    const connection = this.#connections.get(name);
    const snapshot = {
      recorded: this.#transactions.get(command.checkoutId),
      customerStatus: this.#statuses.get(customerName(command)),
      connection,
      prunedBefore: () => this.#prunedBefore,
      retired: this.#retired.has(command.checkoutId),
      catalogue: () => this.#catalogues.get(command.checkout.revision),
    };
    const outcome = decideTopUp(snapshot, command, now, calendar);
    if (outcome.kind === "recorded" && connection !== undefined) {
      refuseWhereClockWasSet(outcome.transaction);
      this.recorded.push(outcome);
      this.#transactions.set(command.checkoutId, outcome.transaction);
      if (outcome.activates) this.activated.push(command);
      this.#connections.set(name, withSubscription(connection, outcome.subscription));
    }
    if (outcome.kind === "refused" && outcome.retires && !snapshot.retired) this.#retire(command.checkoutId, now);
    return outcome;
  }

  /** The transaction, or undefined for good. */
  conclude(checkoutId: string, now: Instant): Conclusion {
    const transaction = this.#transactions.get(checkoutId);
    if (transaction !== undefined) return transaction;
    if (this.#prunedBefore !== undefined && isCheckoutFromBefore(checkoutId, this.#prunedBefore)) return "pruned";
    // A refusal may have retired it earlier than that is told.
    if (!wasRetiredDead(checkoutId, this.#retired.get(checkoutId))) this.#retire(checkoutId, now);
    return undefined;
  }

  #retire(checkoutId: string, now: Instant): void {
    this.#retired.set(checkoutId, now);
    this.retired.add(checkoutId);
  }
}

/** By name, the connections that the rows tell of. */
export function gatherConnections(rows: readonly ConnectionRows[]): Map<string, Connection> {
  const connections = new Map<string, Connection>();
  for (const row of rows) {
    const name = connectionName({ ...row, reqId: row.req_id });
    const others = connections.get(name)?.subscriptions ?? [];
    const subscriptions = row.plan === null ? others : [...others, toSubscription({ ...row, plan: row.plan })];
    connections.set(name, toConnection(row, subscriptions));
  }
  return connections;
}

function withSubscription(connection: Connection, subscription: Subscription): Connection {
  const others = connection.subscriptions.filter(({ plan }) => plan !== subscription.plan);
  return { ...connection, toppedUp: true, subscriptions: [...others, subscription] };
}

function customerName({ environment, cuid }: { readonly environment: Environment; readonly cuid: string }): string {
  return `${environment} ${cuid}`;
}

function connectionName({ environment, cuid, service, reqId }: ConnectionKey): string {
  return JSON.stringify([environment, cuid, service, reqId]);
}
