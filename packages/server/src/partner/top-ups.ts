import { isCheckoutDead, openCheckout } from "../domain/checkout.ts";
import { done, type Result, refused } from "../domain/failure.ts";
import type { Money } from "../domain/money.ts";
import {
  decideAgain,
  randomDigits,
  type SettledTopUp,
  TRANSACTION_ID_RANDOM_BYTES,
  type Transaction,
} from "../domain/top-up.ts";
import type { ReadingPorts } from "../store/ports.ts";
import type { PackagesRequest } from "./customers.ts";
import { type Caller, type Ports, tell } from "./ports.ts";

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

export interface TransactionQuery {
  readonly checkoutId: string;
}

/**
 * txn-status (interface, section 4.4). `never_topped_up` is a promise: it is given only after no
 * top-up can be recorded any more, and after that has been written down.
 */
export async function queryTransaction(
  { store, clock }: Ports,
  caller: Caller,
  { checkoutId }: TransactionQuery,
): Promise<Result<Transaction>> {
  const checkout = openCheckout(await store.checkoutSecrets(), caller, checkoutId);
  if (checkout === undefined) {
    const own = await findOwnRecord({ store }, caller, checkoutId);
    return own === undefined ? refused("checkout_unknown") : done(own);
  }
  const outcome = await store.findOutcome(checkoutId);
  if (outcome !== undefined && !("retiredAt" in outcome)) return done(outcome);
  // What was promised holds though the clock was set back since.
  const latest = Math.max(clock(), outcome?.retiredAt ?? Number.NEGATIVE_INFINITY);
  if (!isCheckoutDead(checkout, latest)) return refused("not_topped_up");
  const concluded = await store.concludeCheckout(checkoutId);
  if (concluded === "pruned") return refused("checkout_unknown");
  return concluded === undefined ? refused("never_topped_up") : done(concluded);
}

/**
 * A top-up of the caller's on record, whose checkoutId does not open any more: the secret that sealed it has made room for
 * others. That it is on record as this partner's says as much as the seal would. Nothing can be recorded by it, and
 * others' are as unknown as made-up ones.
 */
async function findOwnRecord(
  { store }: ReadingPorts,
  { partnerId, environment }: Pick<Caller, "partnerId" | "environment">,
  checkoutId: string,
): Promise<Transaction | undefined> {
  const recorded = await store.findTransaction(checkoutId);
  const isTheirs = recorded?.partnerId === partnerId && recorded.environment === environment;
  return isTheirs ? recorded : undefined;
}
