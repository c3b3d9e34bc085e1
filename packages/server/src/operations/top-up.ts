import { openCheckout } from "../domain/checkout.ts";
import { done, type Result, refused } from "../domain/failure.ts";
import type { Money } from "../domain/money.ts";
import type { Transaction } from "../domain/top-up.ts";
import { formatTransactionId, TRANSACTION_ID_RANDOM_BYTES } from "../domain/transaction-id.ts";
import type { PackagesRequest } from "./list-packages.ts";
import { tell } from "./observer.ts";
import type { Caller, Ports } from "./ports.ts";

export interface TopUpRequest extends PackagesRequest {
  readonly checkoutId: string;
  readonly bouquetId: string;
  readonly amount: Money;
  readonly udf1?: string | undefined;
  readonly udf2?: string | undefined;
}

export interface TopUpAnswer {
  readonly transaction: Transaction;
  /** Whether it was recorded by an earlier request. */
  readonly replayed: boolean;
}

/** subscription-package-topup (interface, section 4.3). Resolves only once the outcome is durable. */
export async function topUp(
  { store, clock, random, observer }: Ports,
  caller: Caller,
  request: TopUpRequest,
): Promise<Result<TopUpAnswer>> {
  const checkout = openCheckout(await store.checkoutSecrets(), caller, request.checkoutId);
  if (checkout === undefined) return refused("checkout_unknown");
  const { bouquetId, udf1, udf2, ...rest } = request;
  const { partnerId, environment } = caller;
  const txnId = formatTransactionId(clock(), random(TRANSACTION_ID_RANDOM_BYTES));
  const asked = { ...rest, bouquetCode: bouquetId, udf1, udf2 };
  const outcome = await store.settleTopUp({ partnerId, environment, ...asked, checkout, txnId });
  if (outcome.kind === "refused") return refused(outcome.refusal);
  if (outcome.kind === "recorded") tell(() => observer?.topUpRecorded(outcome.transaction));
  return done({ transaction: outcome.transaction, replayed: outcome.kind === "replayed" });
}
