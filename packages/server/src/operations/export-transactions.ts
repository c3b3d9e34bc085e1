import type { Transaction } from "../domain/top-up.ts";
import type { Reversal, TransactionFilter } from "../store/search.ts";
import type { Ports } from "./ports.ts";

const TRANSACTIONS_AT_ONCE = 1_000;

export interface ExportedTransaction {
  readonly transaction: Transaction;
  /** Undefined where it was not taken back. */
  readonly reversal: Reversal | undefined;
}

/** The transactions that a filter lets through, newest first, a page at a time. */
export async function* exportTransactions(
  { store }: Pick<Ports, "store">,
  filter: TransactionFilter,
): AsyncGenerator<readonly ExportedTransaction[]> {
  let before: string | undefined;
  do {
    const page = await store.search.listTransactions(filter, { before, limit: TRANSACTIONS_AT_ONCE });
    const reversed = page.filter(({ status }) => status === "reversed").map(({ checkoutId }) => checkoutId);
    const reversals = reversed.length === 0 ? [] : await store.search.findReversals(reversed);
    const byCheckout = new Map(reversals.map((reversal) => [reversal.checkoutId, reversal]));
    if (page.length > 0)
      yield page.map((transaction) => ({ transaction, reversal: byCheckout.get(transaction.checkoutId) }));
    before = page.length < TRANSACTIONS_AT_ONCE ? undefined : page.at(-1)?.txnId;
  } while (before !== undefined);
}
