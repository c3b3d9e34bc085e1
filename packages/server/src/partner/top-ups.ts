import { endOfLimit } from "../domain/account.ts";
import { isCheckoutDead, openCheckout, type RefusedCheckout } from "../domain/checkout.ts";
import { done, type Result, refused } from "../domain/failure.ts";
import { moneyToJson } from "../domain/money.ts";
import type { Sale } from "../domain/sale.ts";
import { decideAgain, refuseAgain, type SettledTopUp } from "../domain/top-up.ts";
import {
  type RequestedTopUp,
  randomDigits,
  TRANSACTION_ID_RANDOM_BYTES,
  type Transaction,
} from "../domain/transaction.ts";
import type { ReadingPorts } from "../store/ports.ts";
import type { ProviderSettings } from "../store/store.ts";
import type { Detailed } from "./failures.ts";
import { type Caller, type Ports, tell } from "./ports.ts";

export type TopUpRequest = Omit<RequestedTopUp, "partnerId" | "environment">;

export interface TopUpAnswer {
  readonly transaction: Transaction;
  /** Whether an earlier request recorded it. */
  readonly replayed: boolean;
}

/**
 * The operation subscription-package-topup. Resolves only when the outcome is durable.
 * @param sale undefined unless a seller made it.
 */
export async function topUp(
  { store, random, observer, recording }: Ports,
  caller: Caller,
  request: TopUpRequest,
  sale?: Sale,
): Promise<Detailed<TopUpAnswer>> {
  const checkout = openCheckout(await store.checkoutSecrets(), caller, request.checkoutId);
  const { partnerId, environment, tokenId } = caller;
  if (checkout === undefined) {
    const own = await findOwnOutcome({ store }, caller, request.checkoutId);
    if (own === undefined) return refused("checkout_unknown");
    const requested = { ...request, partnerId, environment };
    return answerOf("refused" in own ? refuseAgain(own) : decideAgain(own, requested), store.provider);
  }
  const txnDigits = randomDigits(random(TRANSACTION_ID_RANDOM_BYTES));
  let outcome: SettledTopUp;
  try {
    outcome = await store.settleTopUp({ ...request, partnerId, environment, checkout, txnDigits, tokenId, sale });
  } catch (error) {
    tell(() => recording?.failed(error));
    throw error;
  }
  if (outcome.kind === "recorded") {
    tell(() => observer?.topUpRecorded(outcome.transaction));
    tell(() => recording?.succeeded());
  }
  return answerOf(outcome, store.provider);
}

function answerOf(outcome: SettledTopUp, { zone, currencyExponent }: ProviderSettings): Detailed<TopUpAnswer> {
  if (outcome.kind !== "refused")
    return done({ transaction: outcome.transaction, replayed: outcome.kind === "replayed" });
  const { refusal, retired, missing } = outcome;
  if (missing !== undefined)
    return { ...refused(refusal), detail: { missing: moneyToJson(missing, currencyExponent) } };
  const limit = retired?.refused?.limit;
  if (retired === undefined || limit === undefined) return refused(refusal);
  return { ...refused(refusal), detail: { limit, limitEndsAt: endOfLimit(limit, zone.wallTime(retired.retiredAt)) } };
}

export interface TransactionQuery {
  readonly checkoutId: string;
}

/** The operation txn-status. `never_topped_up` is a promise: the checkoutId is stored as retired before. */
export async function queryTransaction(
  { store, clock }: Ports,
  caller: Caller,
  { checkoutId }: TransactionQuery,
): Promise<Result<Transaction>> {
  const checkout = openCheckout(await store.checkoutSecrets(), caller, checkoutId);
  if (checkout === undefined) {
    const own = await findOwnOutcome({ store }, caller, checkoutId);
    if (own === undefined) return refused("checkout_unknown");
    return "refused" in own ? refused("never_topped_up") : done(own);
  }
  const outcome = await store.findOutcome(checkoutId);
  if (outcome !== undefined && !("refused" in outcome)) return done(outcome);
  if (outcome?.refused !== undefined) return refused("never_topped_up");
  // The promise holds even if the clock was set back.
  const latest = Math.max(clock(), outcome?.retiredAt ?? Number.NEGATIVE_INFINITY);
  if (!isCheckoutDead(checkout, latest)) return refused("not_topped_up");
  const concluded = await store.concludeCheckout(checkoutId);
  if (concluded === "pruned") return refused("checkout_unknown");
  return concluded === undefined ? refused("never_topped_up") : done(concluded);
}

/**
 * Finds a recorded top-up of the caller, or a refusal by balance or limit, whose checkoutId no longer opens, because its
 * sealing secret was replaced. The record proves the same as the seal. Nothing can be recorded with such a checkoutId.
 */
async function findOwnOutcome(
  { store }: ReadingPorts,
  { partnerId, environment }: Pick<Caller, "partnerId" | "environment">,
  checkoutId: string,
): Promise<Transaction | RefusedCheckout | undefined> {
  const outcome = await store.findOutcome(checkoutId);
  if (outcome === undefined || ("refused" in outcome && outcome.refused === undefined)) return undefined;
  const holder = "refused" in outcome ? outcome.refused : outcome;
  return holder.partnerId === partnerId && holder.environment === environment ? outcome : undefined;
}
