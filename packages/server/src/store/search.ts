import type { Service } from "../domain/bouquet.ts";
import type { Instant } from "../domain/calendar.ts";
import type { ConnectionKey, Customer, Environment } from "../domain/customer.ts";
import type { Ledger } from "../domain/ledger.ts";
import type { Money } from "../domain/money.ts";
import type { SettlementSum } from "../domain/settlement.ts";
import type { Grant } from "../domain/subscription.ts";
import type { Transaction, TransactionStatus } from "../domain/top-up.ts";

/**
 * What a back office asks of a store. It only reads, and in small steps: no question holds a view of the
 * database for long, so top-ups go on beside it. Every method rejects as those of the store do.
 */
export interface Search {
  /** The ids of those whom a code fits, in their order; at most `limit`. */
  findCuids(environment: Environment, code: string, limit: number): Promise<string[]>;
  /** By the customer id alone. */
  findCustomer(environment: Environment, cuid: string): Promise<Customer | undefined>;
  /** All of an environment, page by page, in an order of the store's own. Each page sees one moment. */
  listCustomers(environment: Environment, page: CustomerPage): Promise<Customer[]>;
  /**
   * The ledgers of a connection, in the order of their plans; also of one that is not there any more, and
   * none for one that never was.
   */
  findLedgers(connection: ConnectionKey): Promise<RecordedLedger[]>;
  findByTxnId(txnId: string): Promise<Transaction | undefined>;
  /** How each of some top-ups was taken back, by its checkoutId; those that were not are left out. For a page at most. */
  findReversals(checkoutIds: readonly string[]): Promise<ReadonlyMap<string, RecordedReversal>>;
  /**
   * Transactions by their txnId, newest first. What is recorded later never moves a page: a txnId begins with
   * its time. With a cuid, the customer's own are looked at; otherwise all of the range of time, one after
   * the other, until the page is full.
   */
  listTransactions(filter: TransactionFilter, page: TransactionPage): Promise<Transaction[]>;
  /**
   * What the top-ups come to that were recorded within a stretch of time, whatever became of them since. In no order, and without
   * those of which there are none.
   */
  sumTopUps(within: RecordedWithin): Promise<SettlementSum[]>;
  /** The same of the reversals that were made within one, whenever their top-ups were recorded. */
  sumReversals(within: RecordedWithin): Promise<SettlementSum[]>;
  /**
   * Whether something that was begun before this time is still being written, so that it may yet come on record. To be
   * asked before what is on record is added up.
   * @param now by the clock that `before` is of: the database's own may show another time.
   */
  isBeingWritten(before: Instant, now: Instant): Promise<boolean>;
}

export interface CustomerPage {
  /** The cuid of the former page's last customer; undefined for the first page. */
  readonly after: string | undefined;
  readonly limit: number;
}

/** When a top-up was taken back, by whom, and why. */
export interface RecordedReversal {
  readonly at: Instant;
  readonly author: string;
  readonly reason: string;
}

/** More customers than share a code; a list of them that is longer helps nobody. */
export const MOST_CANDIDATES = 20;

/** All that is said must hold; what is undefined was not said. */
export interface TransactionFilter {
  readonly environment: Environment;
  readonly partnerId?: number | undefined;
  readonly service?: Service | undefined;
  readonly cuid?: string | undefined;
  readonly reqId?: string | undefined;
  readonly amount?: Money | undefined;
  readonly status?: TransactionStatus | undefined;
  readonly udf1?: string | undefined;
  readonly udf2?: string | undefined;
  /** Recorded at this time or later. */
  readonly from?: Instant | undefined;
  /** Recorded before this time. */
  readonly until?: Instant | undefined;
}

export interface TransactionPage {
  /** The txnId of the former page's last transaction; undefined for the first page. */
  readonly before: string | undefined;
  readonly limit: number;
}

/** A stretch of time in which something was recorded, of one partner or, where none is named, of all. */
export interface RecordedWithin {
  readonly environment: Environment;
  readonly partnerId: number | undefined;
  readonly from: Instant;
  /** The first instant that does not belong to it. */
  readonly until: Instant;
}

/** A ledger with each grant beside the top-up that it came from. */
export interface RecordedLedger extends Omit<Ledger, "grants"> {
  readonly entries: readonly LedgerEntry[];
}

export interface LedgerEntry {
  readonly grant: Grant;
  /** The top-up that granted it; undefined for the other kinds. */
  readonly transaction: Transaction | undefined;
}
