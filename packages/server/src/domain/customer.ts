import type { Service } from "./bouquet.ts";
import { done, type Result, refused } from "./failure.ts";
import type { LedgerHead } from "./ledger.ts";
import { isRunning, type Subscription } from "./subscription.ts";
import type { WallTime } from "./wall-time.ts";

export const ENVIRONMENTS = ["trial", "production"] as const;

/** Trial customers and real ones never see each other (decisions, "Environments and access tokens"). */
export type Environment = (typeof ENVIRONMENTS)[number];

/** The only status words on the wire (decisions, "Customers and connections"). */
export type WireStatus = "active" | "inactive";

/** What a provider can say of a connection. A blocked one is `inactive` on the wire. */
export type ConnectionStatus = WireStatus | "blocked";

export interface CustomerProfile {
  readonly cuid: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly mobile: string | undefined;
  readonly status: WireStatus;
}

/** A set-top box, an internet username or an IPTV username, as imported last. */
export interface BareConnection {
  readonly service: Service;
  /** The set-top box number or the username, compared exactly. */
  readonly reqId: string;
  readonly status: ConnectionStatus;
  /** By staff, whatever the provider's records say. */
  readonly blocked: boolean;
  readonly segment: string | undefined;
}

export interface Connection extends BareConnection {
  /** One for each plan that it has or had. */
  readonly ledgers: readonly LedgerHead[];
}

export interface Customer extends CustomerProfile {
  readonly connections: readonly Connection[];
}

export type ConnectionName = Pick<BareConnection, "service" | "reqId">;

/** Where a top-up lands: one connection of one customer. */
export interface ConnectionKey extends ConnectionName {
  readonly environment: Environment;
  readonly cuid: string;
}

/** As much of a connection as its status on the wire depends on. */
export interface ConnectionState extends Pick<BareConnection, "status" | "blocked"> {
  /** The latest end of its base subscriptions; undefined where it has none. */
  readonly baseEnd: WallTime | undefined;
}

/** A customer as a look-up by code tells of one. */
export interface CustomerOverview extends CustomerProfile {
  readonly connections: readonly (ConnectionName & ConnectionState)[];
}

/**
 * Blocked is inactive. With base subscriptions, it is active if one runs; without any, it is as imported.
 * Source: the ledger's page, section 4.
 */
export function wireStatus({ status, blocked, baseEnd }: ConnectionState, now: WallTime): WireStatus {
  if (blocked || status === "blocked") return "inactive";
  return baseEnd === undefined ? status : baseEnd > now ? "active" : "inactive";
}

/** Whether the provider has blocked it: by its records, or by its staff. */
export function isBlocked({ status, blocked }: Pick<BareConnection, "status" | "blocked">): boolean {
  return blocked || status === "blocked";
}

/** Whom and what something can be sold to now: what a listing refuses, a top-up refuses too. */
export function openToSales<Profile extends Pick<CustomerProfile, "status">>(
  customer: Profile | undefined,
  connection: Connection | undefined,
): Result<{ readonly customer: Profile; readonly connection: Connection }> {
  if (customer === undefined) return refused("customer_not_found");
  if (customer.status === "inactive") return refused("customer_inactive");
  if (connection === undefined) return refused("connection_not_found");
  if (isBlocked(connection)) return refused("connection_blocked");
  return done({ customer, connection });
}

export function connectionState(connection: Connection): ConnectionState {
  let baseEnd: WallTime | undefined;
  for (const { bouquet, end } of subscriptionsOf(connection))
    if (!bouquet.addOn && (baseEnd === undefined || end > baseEnd)) baseEnd = end;
  return { status: connection.status, blocked: connection.blocked, baseEnd };
}

/** The connection once a ledger of it has come to this. */
export function withHead<Of extends Pick<Connection, "ledgers">>(connection: Of, head: LedgerHead): Of {
  const others = connection.ledgers.filter(({ plan }) => plan !== head.plan);
  return { ...connection, ledgers: [...others, head] };
}

/** In the order in which partners see them: base subscriptions first, and of each kind the oldest. */
export function subscriptionsOf({ ledgers }: Pick<Connection, "ledgers">): Subscription[] {
  const found = ledgers.flatMap(({ subscription }) => (subscription === undefined ? [] : [subscription]));
  return found.length < 2 ? found : found.sort(compareSubscriptions);
}

function compareSubscriptions(a: Subscription, b: Subscription): number {
  if (a.bouquet.addOn !== b.bouquet.addOn) return a.bouquet.addOn ? 1 : -1;
  if (a.start !== b.start) return a.start < b.start ? -1 : 1;
  return a.plan < b.plan ? -1 : 1;
}

/** The plans of the base subscriptions that run. */
export function runningBases({ ledgers }: Pick<Connection, "ledgers">, now: WallTime): string[] {
  return ledgers.flatMap(({ plan, subscription }) =>
    isRunning(subscription, now) && !subscription.bouquet.addOn ? [plan] : [],
  );
}

export function findConnection<Candidate extends ConnectionName>(
  connections: readonly Candidate[],
  { service, reqId }: ConnectionName,
): Candidate | undefined {
  return connections.find((connection) => connection.service === service && connection.reqId === reqId);
}

/** One row of a customers file, in the order in which its fields are written. */
export interface CustomerFileRow {
  readonly cuid: string;
  readonly first_name: string;
  readonly last_name: string;
  readonly mobile?: string;
  readonly status: string;
  /** Up to when the row holds every top-up, goodwill and reversal made here: ISO 8601, in UTC. */
  readonly asOf: string;
  readonly connections: Readonly<Partial<Record<Service, readonly ConnectionFileRow[]>>>;
}

export interface ConnectionFileRow {
  readonly stb?: string;
  readonly username?: string;
  readonly status: string;
  readonly segment?: string;
  readonly subscriptions: readonly SubscriptionFileRow[];
}

interface SubscriptionFileRow {
  readonly code: string;
  readonly startdate: string;
  readonly enddate: string;
  /** In `enddate`; an import leaves it unread. */
  readonly goodwillDays: number;
}

/** A row of plain records, which an import can read. Blocks by staff are not in it. */
export function customerRow(customer: Customer, asOf: string): CustomerFileRow {
  const { cuid, firstName, lastName, mobile, status } = customer;
  const of = (service: Service) => {
    const connections = customer.connections.filter((connection) => connection.service === service);
    return connections.length === 0 ? {} : { [service]: connections.map(connectionRow) };
  };
  return {
    ...{ cuid, first_name: firstName, last_name: lastName },
    ...(mobile === undefined ? {} : { mobile }),
    status,
    asOf,
    connections: { ...of("tv"), ...of("internet"), ...of("iptv") },
  };
}

function connectionRow(connection: Connection): ConnectionFileRow {
  const { service, reqId, status, segment } = connection;
  return {
    ...(service === "tv" ? { stb: reqId } : { username: reqId }),
    status,
    ...(segment === undefined ? {} : { segment }),
    subscriptions: subscriptionsOf(connection).map(({ bouquet: { code }, start, end, goodwillDays }) => {
      return { code, startdate: start, enddate: end, goodwillDays };
    }),
  };
}
