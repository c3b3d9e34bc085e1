import type { ConnectionKey } from "./customer.ts";
import type { Money } from "./money.ts";
import type { Instant, WallTime } from "./wall-time.ts";

export const TRANSACTION_STATUSES = ["success", "reversed"] as const;

export type TransactionStatus = (typeof TRANSACTION_STATUSES)[number];

/** A recorded top-up. */
export interface Transaction extends ConnectionKey {
  readonly checkoutId: string;
  readonly txnId: string;
  readonly partnerId: number;
  readonly bouquetCode: string;
  readonly amount: Money;
  /** The part of the amount that the partner keeps, fixed at the top-up. */
  readonly commission: Money;
  readonly at: Instant;
  /** Wall time of the record. Replays return it unchanged, and it decides the day of settlement. */
  readonly txnDate: WallTime;
  readonly status: TransactionStatus;
  readonly udf1: string | undefined;
  readonly udf2: string | undefined;
}
