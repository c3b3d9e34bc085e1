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

/** The days of a list, by the provider's clock: `YYYY-MM-DD`. */
export interface Days {
  readonly from: string;
  readonly to: string;
}

/** All pages of a list. */
export interface Listed<Item> {
  readonly items: readonly Item[];
}

/** A top-up in the list of your own. */
export interface OwnTopUp extends TransactionResult {
  /** The part of `amt` that you keep. */
  readonly commission: string;
  /** Null if it is not reversed. */
  readonly reversedAt: string | null;
  readonly udf1: string | null;
  readonly udf2: string | null;
}

/** Your account in the environment of the access token. */
export interface Account {
  /** Negative if you owe, such as `"-1107.4"`. */
  readonly balance: string;
  /** Null if there is no limit. */
  readonly creditLimit: string | null;
  /** Balance and credit limit together; null if there is no limit. */
  readonly available: string | null;
  /** Null if the provider set none. */
  readonly currency: string | null;
  /** The rules in force today. The most specific rule counts. */
  readonly commission: readonly CommissionRule[];
  /** Null: no limit. */
  readonly limits: AccountLimits;
}

export interface CommissionRule {
  /** Null: all services. */
  readonly service: string | null;
  /** Null: all bouquets. */
  readonly bouquetId: string | null;
  /** Percent of `amt`; null if the amount is fixed. */
  readonly percent: string | null;
  readonly fixed: string | null;
  /** The first day of the rule. */
  readonly from: string;
}

export interface AccountLimits {
  readonly topUpAmount: string | null;
  readonly dayAmount: string | null;
  readonly dayTopUps: number | null;
  /** Calls a second in the long run. */
  readonly rate: number;
  /** Calls at once. */
  readonly burst: number;
  /** Look-ups of strangers an hour: customers whom you never topped up, unknown and ambiguous codes. */
  readonly newLookUps: number | null;
}

export interface AccountEntries extends Listed<AccountEntry> {
  /** The balance before the first item. */
  readonly opening: string;
}

export interface AccountEntry {
  readonly at: string;
  /** `deposit`, `withdrawal`, `adjustment`, `top_up` or `reversal`. */
  readonly kind: string;
  /** The effect on the balance: negative for a top-up. */
  readonly amount: string;
  /** The balance after it. */
  readonly balance: string;
  /** The provider's reference; null for top-ups and reversals. */
  readonly reference: string | null;
  /** The top-up and its amounts; null for other entries. */
  readonly txnId: string | null;
  readonly orderId: string | null;
  readonly gross: string | null;
  readonly commission: string | null;
}
