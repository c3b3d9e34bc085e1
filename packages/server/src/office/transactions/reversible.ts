import type { Transaction } from "../../domain/top-up.ts";
import type { Engine } from "../../store/engine.ts";
import { findReversals, type RecordedReversal, readTransactions, type TransactionFilter } from "./sql.ts";

export interface ReversibleTransaction {
  readonly transaction: Transaction;
  /** Undefined if it was not reversed. */
  readonly reversal: RecordedReversal | undefined;
}

/** All top-ups that a filter allows, newest first, `atOnce` at a time, with their reversals. */
export async function* readWithReversals(
  engine: Engine,
  filter: TransactionFilter,
  atOnce: number,
): AsyncGenerator<readonly ReversibleTransaction[]> {
  for (let before: string | undefined, isLast = false; !isLast; ) {
    const page = await readTransactions(engine, filter, { before, limit: atOnce });
    const reversed = page.filter(({ status }) => status === "reversed").map(({ txnId }) => txnId);
    const reversals = await findReversals(engine.db, reversed);
    yield page.map((transaction) => ({ transaction, reversal: reversals.get(transaction.txnId) }));
    before = page.at(-1)?.txnId;
    isLast = page.length < atOnce;
  }
}
