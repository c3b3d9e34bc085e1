import type { Transaction } from "../../domain/top-up.ts";
import { isTransactionIdOf } from "../../domain/transaction-id.ts";
import { StoreUnavailable } from "../errors.ts";

/**
 * @throws StoreUnavailable where the clock was set between a request, from which the txnId has its time, and the decision:
 *   lists by day go by the txnId, and would never show the top-up. To be called before it is recorded.
 */
export function refuseWhereClockWasSet({ txnId, at }: Transaction): void {
  if (!isTransactionIdOf(txnId, at)) throw new StoreUnavailable("the clock was set while top-ups were under way");
}
