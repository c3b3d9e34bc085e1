/*
 * The values of answers, the same for both versions. Names are those of v1.0.1, with two simplifications: a connection has
 * the `reqId` of requests, and a listing is not nested under its service. Amounts are decimal strings. Timestamps are
 * unchanged, `YYYY-MM-DD HH:MM:SS`; the interface names no time zone.
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

/** The answer of get-subscription-package. */
export interface PackageListing {
  /** Valid for one top-up within five minutes. Save it before you send the top-up. */
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

/** A recorded top-up. */
export interface TransactionResult {
  /** The checkoutId. */
  readonly orderId: string;
  readonly txnId: string;
  readonly cuid: string;
  readonly reqId: string;
  readonly bouquetId: string;
  readonly amt: string;
  readonly txnDate: string;
  /** `success`, or `reversed` if the provider has reversed the top-up. */
  readonly status: string;
  readonly service: string;
}
