import type { Calendar } from "./calendar.ts";
import type { Connection, Customer } from "./customer.ts";
import { foldGrants } from "./fold.ts";
import type { Ledger } from "./ledger.ts";

/** What is stored of a customer, and why. */
export interface CustomerWithLedgers {
  /** Undefined where there is none. */
  readonly customer: Customer | undefined;
  /** Those of the customer, with their subscriptions; also where nothing else of a customer is left. */
  readonly connections: readonly Connection[];
  /** The one form of the mobile number by which it is found; another version of topupd may have known another. */
  readonly mobileForm: string | undefined;
  /** All that was ever granted to it. It outlasts whatever was removed from the database by hand. */
  readonly ledgers: readonly ConnectionLedger[];
}

/** What names a connection of a customer. */
export type ConnectionName = Pick<Connection, "service" | "reqId">;

/** A ledger, and whose of the customer's connections it is. */
export interface ConnectionLedger extends Ledger, ConnectionName {}

/** A connection with the subscriptions that it has by its ledgers. */
export type KnownConnection = Pick<Connection, "service" | "reqId" | "blocked" | "subscriptions">;

/**
 * The connections that are stored, and those of which only ledgers are left. It is the ledgers that count, wherever
 * something else is stored beside them; a subscription without one, which nobody has granted, stands as it is.
 */
export function knownConnections({ connections, ledgers }: CustomerWithLedgers, calendar: Calendar): KnownConnection[] {
  const known = connections.map(({ service, reqId, blocked, subscriptions }) => ({
    ...{ service, reqId, blocked },
    subscriptions: subscriptions.filter(
      ({ plan }) => !ledgers.some((each) => isLedgerOf(each, { service, reqId }, plan)),
    ),
  }));
  for (const { service, reqId, plan, grants } of ledgers) {
    let connection = findConnection(known, { service, reqId });
    if (connection === undefined) {
      connection = { service, reqId, blocked: false, subscriptions: [] };
      known.push(connection);
    }
    const subscription = foldGrants(plan, grants, calendar);
    if (subscription !== undefined) connection.subscriptions.push(subscription);
  }
  return known;
}

export function isLedgerOf(ledger: ConnectionLedger, { service, reqId }: ConnectionName, plan: string): boolean {
  return ledger.plan === plan && ledger.service === service && ledger.reqId === reqId;
}

export function findConnection<Candidate extends ConnectionName>(
  connections: readonly Candidate[],
  { service, reqId }: ConnectionName,
): Candidate | undefined {
  return connections.find((connection) => connection.service === service && connection.reqId === reqId);
}
