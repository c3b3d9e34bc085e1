/*
 * What the operations give, the same for both versions. Fields are called as on the wire of v1.0.1 (interface,
 * section 2), but for two that make programs simpler: a connection has the `reqId` that requests ask for, and a
 * listing does not hide under the name of its service. Amounts are decimal strings. Timestamps are as they came,
 * `YYYY-MM-DD HH:MM:SS`: the interface does not say in which time zone.
 */

export type Service = "tv" | "internet" | "iptv";

export const SERVICES: readonly Service[] = ["tv", "internet", "iptv"];

export interface CustomerProfile {
  readonly cuid: string;
  readonly first_name: string;
  readonly last_name: string;
  /** Observed: `active`, `inactive`. */
  readonly status: string;
}

export interface Customer extends CustomerProfile {
  readonly connections: Readonly<Record<Service, readonly Connection[]>>;
}

export interface Connection {
  /** The set-top box number (`stb`) of a tv connection, the `username` of the others. */
  readonly reqId: string;
  /** Observed: `active`, `inactive`. */
  readonly status: string;
}

/** What get-subscription-package gives. */
export interface PackageListing {
  /** Good for one top-up within five minutes. Save it before the top-up is sent. */
  readonly checkoutId: string;
  readonly customer: CustomerProfile;
  readonly service: Service;
  readonly connection: Connection;
  readonly subscriptions: readonly Subscription[];
  readonly bouquets: readonly Bouquet[];
}

export interface Subscription {
  readonly code: string;
  readonly name: string;
  readonly startdate: string;
  readonly enddate: string;
}

export interface Bouquet {
  /** The `bouquetId` of a top-up. */
  readonly code: string;
  readonly name: string;
  /** The `amt` of a top-up. Called `amt` in v1.0.0. */
  readonly price: string;
}

/** A top-up on record. */
export interface TransactionResult {
  /** The checkoutId. */
  readonly orderId: string;
  readonly txnId: string;
  readonly cuid: string;
  readonly reqId: string;
  readonly bouquetId: string;
  readonly amt: string;
  readonly txnDate: string;
  /** `success`; or `reversed`, where the provider has taken the top-up back since. */
  readonly status: string;
  readonly service: string;
}
