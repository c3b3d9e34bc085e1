import type { Calendar } from "../domain/calendar.ts";
import type { CustomerProfile } from "../domain/customer.ts";
import { foldGrants } from "../domain/fold.ts";
import type { Subscription } from "../domain/subscription.ts";
import type { Transaction } from "../domain/top-up.ts";
import { isTransactionId } from "../domain/transaction-id.ts";
import type { RecordedLedger, RecordedReversal } from "../store/search.ts";
import { type ExplainedStep, explainPlan } from "./explain-subscription.ts";
import { findReversals } from "./find-reversals.ts";
import type { Ports } from "./ports.ts";

export interface ShownTransaction {
  readonly transaction: Transaction;
  /** Undefined where nothing is left of the customer but the records. */
  readonly customer: CustomerProfile | undefined;
  /** What the top-up did to the subscription; undefined where its grant is missing, which topupd check reports. */
  readonly grant: { readonly plan: string; readonly step: ExplainedStep } | undefined;
  readonly reversal: (RecordedReversal & { readonly moved: Moved | undefined }) | undefined;
}

/** What the plan amounted to before and after the reversal; undefined where no ledger has it, as of what was imported. */
export interface Moved {
  readonly before: Subscription | undefined;
  readonly after: Subscription | undefined;
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
  const transaction = await findTransaction({ store }, id);
  if (transaction === undefined) return undefined;
  const found = await store.findConnection(transaction);
  const recorded = (await findReversals({ store }, [transaction])).get(transaction.checkoutId);
  const ledgers = await store.search.findLedgers(transaction);
  const grants = ledgers.flatMap((ledger) => {
    const { plan, steps } = explainPlan(ledger, store.provider.calendar);
    const step = steps.find((each) => each.grant.kind === "top_up" && each.grant.checkoutId === transaction.checkoutId);
    return step === undefined ? [] : [{ plan, step }];
  });
  const reversal = recorded && { ...recorded, moved: movedBy(transaction, ledgers, store.provider.calendar) };
  return { transaction, customer: found?.profile, grant: grants[0], reversal };
}

/** By the ledger as it was then: what was reversed later counted still. */
function movedBy({ checkoutId }: Transaction, ledgers: readonly RecordedLedger[], calendar: Calendar) {
  for (const { plan, entries } of ledgers) {
    const grants = entries.map(({ grant }) => grant);
    const at = grants.findIndex((grant) => grant.kind === "reversal" && grant.checkoutId === checkoutId);
    const amounted = (entries: number) => foldGrants(plan, grants.slice(0, entries), calendar);
    if (at >= 0) return { before: amounted(at), after: amounted(at + 1) };
  }
  return undefined;
}

/** @param id a txnId or a checkoutId. */
export function findTransaction({ store }: Pick<Ports, "store">, id: string): Promise<Transaction | undefined> {
  return isTransactionId(id) ? store.search.findByTxnId(id) : store.findTransaction(id);
}
