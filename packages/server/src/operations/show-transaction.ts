import type { CustomerProfile } from "../domain/customer.ts";
import type { Transaction } from "../domain/top-up.ts";
import { isTransactionId } from "../domain/transaction-id.ts";
import { type ExplainedStep, explainPlan } from "./explain-subscription.ts";
import type { Ports } from "./ports.ts";

export interface ShownTransaction {
  readonly transaction: Transaction;
  /** Undefined where nothing is left of the customer but the records. */
  readonly customer: CustomerProfile | undefined;
  /** What the top-up did to the subscription; undefined where its grant is missing, which topupd check reports. */
  readonly grant: { readonly plan: string; readonly step: ExplainedStep } | undefined;
}

/**
 * A recorded top-up, and what it did.
 * @param id a txnId or a checkoutId.
 * @returns undefined where no top-up with this id is on record.
 */
export async function showTransaction(
  { store }: Pick<Ports, "store">,
  id: string,
): Promise<ShownTransaction | undefined> {
  const transaction = isTransactionId(id) ? await store.search.findByTxnId(id) : await store.findTransaction(id);
  if (transaction === undefined) return undefined;
  const found = await store.findConnection(transaction);
  const ledgers = await store.search.findLedgers(transaction);
  const grants = ledgers.flatMap((ledger) => {
    const { plan, steps } = explainPlan(ledger, store.provider.calendar);
    const step = steps.find((each) => each.transaction?.checkoutId === transaction.checkoutId);
    return step === undefined ? [] : [{ plan, step }];
  });
  return { transaction, customer: found?.profile, grant: grants[0] };
}
