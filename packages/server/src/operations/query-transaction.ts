import { isCheckoutDead, openCheckout } from "../domain/checkout.ts";
import { done, type Result, refused } from "../domain/failure.ts";
import type { Transaction } from "../domain/top-up.ts";
import { findOwnRecord } from "./own-record.ts";
import type { Caller, Ports } from "./ports.ts";

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
  if (outcome !== undefined && !("retiredAt" in outcome)) return answerTo(caller, outcome);
  // What was promised holds though the clock was set back since.
  const latest = Math.max(clock(), outcome?.retiredAt ?? Number.NEGATIVE_INFINITY);
  if (!isCheckoutDead(checkout, latest)) return refused("not_topped_up");
  const concluded = await store.concludeCheckout(checkoutId);
  if (concluded === "pruned") return refused("checkout_unknown");
  return concluded === undefined ? refused("never_topped_up") : answerTo(caller, concluded);
}

/**
 * The seal says which number the partner has. Where a database was copied, and partners were added to both since, that
 * number may be another's in the one from which a top-up was imported.
 */
function answerTo({ partnerId }: Caller, recorded: Transaction): Result<Transaction> {
  return recorded.partnerId === partnerId ? done(recorded) : refused("checkout_unknown");
}
