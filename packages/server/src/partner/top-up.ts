import { openCheckout } from "../domain/checkout.ts";
import { done, type Result, refused } from "../domain/failure.ts";
import type { Money } from "../domain/money.ts";
import { decideAgain, type SettledTopUp, type Transaction } from "../domain/top-up.ts";
import { randomDigits, TRANSACTION_ID_RANDOM_BYTES } from "../domain/transaction-id.ts";
import type { PackagesRequest } from "./list-packages.ts";
import { tell } from "./observer.ts";
import type { Caller, Ports } from "./ports.ts";
import { findOwnRecord } from "./query-transaction.ts";

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
  { store, random, observer, recording }: Ports,
  caller: Caller,
  request: TopUpRequest,
): Promise<Result<TopUpAnswer>> {
  const checkout = openCheckout(await store.checkoutSecrets(), caller, request.checkoutId);
  const { checkoutId, cuid, service, reqId, bouquetId: bouquetCode, amount, udf1, udf2 } = request;
  const { partnerId, environment, tokenId } = caller;
  if (checkout === undefined) {
    const recorded = await findOwnRecord({ store }, caller, checkoutId);
    if (recorded === undefined) return refused("checkout_unknown");
    return answerAgain(decideAgain(recorded, { partnerId, environment, cuid, service, reqId, bouquetCode, amount }));
  }
  const txnDigits = randomDigits(random(TRANSACTION_ID_RANDOM_BYTES));
  let outcome: SettledTopUp;
  try {
    outcome = await store.settleTopUp({
      checkoutId,
      checkout,
      txnDigits,
      partnerId,
      environment,
      cuid,
      service,
      reqId,
      bouquetCode,
      amount,
      udf1,
      udf2,
      tokenId,
    });
  } catch (error) {
    tell(() => recording?.failed(error));
    throw error;
  }
  if (outcome.kind === "refused") return refused(outcome.refusal);
  if (outcome.kind === "recorded") {
    tell(() => observer?.topUpRecorded(outcome.transaction));
    tell(() => recording?.succeeded());
  }
  return done({ transaction: outcome.transaction, replayed: outcome.kind === "replayed" });
}

function answerAgain(outcome: ReturnType<typeof decideAgain>): Result<TopUpAnswer> {
  if (outcome.kind === "refused") return refused(outcome.refusal);
  return done({ transaction: outcome.transaction, replayed: true });
}
