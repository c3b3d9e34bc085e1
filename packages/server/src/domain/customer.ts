import type { Service } from "./bouquet.ts";
import type { Instant } from "./calendar.ts";
import { done, type Result, refused } from "./failure.ts";
import { hasEnded, type Subscription } from "./subscription.ts";

export const ENVIRONMENTS = ["trial", "production"] as const;

/** Trial customers and real ones never see each other (decisions, "Environments and access tokens"). */
export type Environment = (typeof ENVIRONMENTS)[number];

/** The only status words on the wire (decisions, "Customers and connections"). */
export type WireStatus = "active" | "inactive";

/** What a provider can say of a connection. A blocked one is `inactive` on the wire. */
export type ConnectionStatus = WireStatus | "blocked";

/** The customer's own particulars, without connections. */
export interface CustomerProfile {
  readonly cuid: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly mobile: string | undefined;
  readonly status: WireStatus;
}

/** A set-top box, an internet username or an IPTV username. */
export interface Connection {
  readonly service: Service;
  /** The set-top box number or the username, compared exactly. */
  readonly reqId: string;
  /** As imported last. */
  readonly status: ConnectionStatus;
  /** Whether staff have blocked it, whatever the provider's records say. */
  readonly blocked: boolean;
  /** Whether something was granted here since it was imported as inactive. */
  readonly toppedUp: boolean;
  readonly segment: string | undefined;
  readonly subscriptions: readonly Subscription[];
}

export interface Customer extends CustomerProfile {
  readonly connections: readonly Connection[];
}

/** Where a top-up lands: one connection of one customer. */
export interface ConnectionKey {
  readonly environment: Environment;
  readonly cuid: string;
  readonly service: Service;
  readonly reqId: string;
}

/** As much of a connection as its status on the wire depends on. */
export interface ConnectionState extends Pick<Connection, "status" | "blocked" | "toppedUp"> {
  /** The latest end of its base subscriptions; undefined where it never had one. */
  readonly baseEnd: Instant | undefined;
}

/** A customer as a look-up by code tells of one. */
export interface CustomerOverview extends CustomerProfile {
  readonly connections: readonly (Pick<Connection, "service" | "reqId"> & ConnectionState)[];
}

/**
 * A lapsed connection shows as inactive and can be topped up; a blocked one shows as inactive and cannot.
 * Source: decisions, "Customers and connections". A connection that never had a base subscription
 * shows what was imported: none of its base subscriptions has ended.
 */
export function wireStatus({ status, blocked, toppedUp, baseEnd }: ConnectionState, now: Instant): WireStatus {
  if (isBlocked({ status, blocked })) return "inactive";
  if (status === "inactive" && !toppedUp) return "inactive";
  return baseEnd !== undefined && baseEnd <= now ? "inactive" : "active";
}

/** Whether the provider has blocked it: by its records, or by its staff. */
export function isBlocked({ status, blocked }: Pick<Connection, "status" | "blocked">): boolean {
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

/** Whether the next grant makes it active, which was imported as inactive. */
export function isWokenByGrant({ status, toppedUp }: Pick<Connection, "status" | "toppedUp">): boolean {
  return status === "inactive" && !toppedUp;
}

export function connectionState({ status, blocked, toppedUp, subscriptions }: Connection): ConnectionState {
  const ends = subscriptions.filter(({ bouquet }) => !bouquet.addOn).map(({ end }) => end);
  return { status, blocked, toppedUp, baseEnd: ends.length === 0 ? undefined : Math.max(...ends) };
}

export function hasRunningBase(connection: Connection, now: Instant): boolean {
  return connection.subscriptions.some((subscription) => !subscription.bouquet.addOn && !hasEnded(subscription, now));
}
