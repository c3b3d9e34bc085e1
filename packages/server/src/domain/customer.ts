import type { Service } from "./bouquet.ts";
import type { Instant } from "./calendar.ts";
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
  /** Whether a top-up was made since it was imported as inactive. */
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

/**
 * A lapsed connection shows as inactive and can be topped up; a blocked one shows as inactive and cannot.
 * Source: decisions, "Customers and connections". A connection that never had a base subscription
 * shows what was imported: none of its base subscriptions has ended.
 */
export function wireStatus(connection: Connection, now: Instant): WireStatus {
  if (connection.status === "blocked") return "inactive";
  if (connection.status === "inactive" && !connection.toppedUp) return "inactive";
  const bases = connection.subscriptions.filter((subscription) => !subscription.bouquet.addOn);
  return bases.length > 0 && bases.every((base) => hasEnded(base, now)) ? "inactive" : "active";
}

export function hasRunningBase(connection: Connection, now: Instant): boolean {
  return connection.subscriptions.some((subscription) => !subscription.bouquet.addOn && !hasEnded(subscription, now));
}
