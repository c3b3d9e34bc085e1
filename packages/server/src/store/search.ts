import type { Service } from "../domain/bouquet.ts";
import type { ConnectionKey, ConnectionName, Customer, CustomerProfile, Environment } from "../domain/customer.ts";
import type { Money } from "../domain/money.ts";
import type { TransactionStatus } from "../domain/top-up.ts";
import type { Instant, WallTime } from "../domain/wall-time.ts";

/** A customer, and up to when the last row that was taken held what was made here; undefined where none said so. */
export interface RecordedCustomer extends Customer {
  readonly asOf: Instant | undefined;
}

export interface CustomerPage {
  /** The cuid of the former page's last customer; undefined for the first page. */
  readonly after: string | undefined;
  readonly limit: number;
}

export interface EndsFilter {
  readonly environment: Environment;
  readonly service: Service | undefined;
  readonly after: WallTime;
  readonly until: WallTime;
}

export interface EndsPage {
  /** The former page's last one; undefined for the first page. */
  readonly beyond: EndKey | undefined;
  readonly limit: number;
}

/** By what ends are in order. */
export interface EndKey extends Pick<ConnectionKey, "cuid" | "service" | "reqId"> {
  readonly end: WallTime;
  readonly plan: string;
}

export interface SubscriptionEnd extends EndKey {
  /** Undefined where nothing is left of the customer but ledgers. */
  readonly profile: CustomerProfile | undefined;
  readonly bouquetCode: string;
}

/** When staff did something, who did it, and why. */
export interface StaffAct {
  readonly at: Instant;
  readonly wall: WallTime;
  readonly author: string;
  readonly reason: string;
}

/** When a top-up was reversed, by whom, and why. */
export type RecordedReversal = StaffAct;

/** Who blocked a connection. */
export interface StaffBlock extends StaffAct, ConnectionName {}

/** More customers than share a code; a list of them that is longer helps nobody. */
export const MOST_CANDIDATES = 20;

/** All that is said must hold; what is undefined was not said. */
export interface TransactionFilter {
  readonly environment: Environment;
  readonly partnerId?: number | undefined;
  readonly service?: Service | undefined;
  readonly cuid?: string | undefined;
  readonly reqId?: string | undefined;
  readonly bouquetCode?: string | undefined;
  readonly amount?: Money | undefined;
  readonly status?: TransactionStatus | undefined;
  readonly udf1?: string | undefined;
  readonly udf2?: string | undefined;
  /** Recorded at this time or later. */
  readonly from?: Instant | undefined;
  /** Recorded before this time. */
  readonly until?: Instant | undefined;
}

/** Of all, reversed or not; and of those that are reversed. */
export interface TransactionSum {
  readonly count: number;
  readonly amount: Money;
  readonly reversed: number;
  readonly reversedAmount: Money;
}

export interface TransactionPage {
  /** The txnId of the former page's last transaction; undefined for the first page. */
  readonly before: string | undefined;
  /** A txnId, or the start of one: transactions after it, oldest first. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** A day of the provider's zone, such as `2026-11-20`, of one partner or, where none is named, of all. */
export interface SettledDay {
  readonly environment: Environment;
  readonly partnerId: number | undefined;
  readonly day: string;
}
