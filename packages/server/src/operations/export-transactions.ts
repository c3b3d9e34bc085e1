import type { Transaction } from "../domain/top-up.ts";
import type { RecordedReversal, TransactionFilter } from "../store/search.ts";
import { findReversals } from "./find-reversals.ts";
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
  let before: string | undefined;
  do {
    const page = await store.search.listTransactions(filter, { before, limit: TRANSACTIONS_AT_ONCE });
    const reversals = await findReversals({ store }, page);
    if (page.length > 0)
      yield page.map((transaction) => ({ transaction, reversal: reversals.get(transaction.checkoutId) }));
    before = page.length < TRANSACTIONS_AT_ONCE ? undefined : page.at(-1)?.txnId;
  } while (before !== undefined);
}
