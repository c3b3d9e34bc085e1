import type { Transaction } from "../domain/top-up.ts";
import type { RecordedReversal, TransactionFilter } from "../store/search.ts";
import type { Ports } from "./ports.ts";

const TRANSACTIONS_AT_ONCE = 1_000;

export interface ExportedTransaction {
  readonly transaction: Transaction;
  /** Undefined where it was not taken back. */
  readonly reversal: RecordedReversal | undefined;
}

/** The transactions that a filter lets through, newest first, a page at a time. */
export async function* exportTransactions(
  { store }: Pick<Ports, "store">,
  filter: TransactionFilter,
): AsyncGenerator<readonly ExportedTransaction[]> {
  const withReversal = async (transaction: Transaction): Promise<ExportedTransaction> => {
    const isReversed = transaction.status === "reversed";
    return { transaction, reversal: isReversed ? await store.search.findReversal(transaction.checkoutId) : undefined };
  };
  let before: string | undefined;
  do {
    const page = await store.search.listTransactions(filter, { before, limit: TRANSACTIONS_AT_ONCE });
    if (page.length > 0) yield await Promise.all(page.map(withReversal));
    before = page.length < TRANSACTIONS_AT_ONCE ? undefined : page.at(-1)?.txnId;
  } while (before !== undefined);
}
