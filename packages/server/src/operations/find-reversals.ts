import type { Transaction } from "../domain/top-up.ts";
import type { RecordedReversal } from "../store/search.ts";
import type { Ports } from "./ports.ts";

/**
 * How those of some top-ups were taken back that were, by checkoutId.
 * @param transactions a page at most: they are asked for at once, since a question for each would keep all others waiting.
 */
export async function findReversals(
  { store }: Pick<Ports, "store">,
  transactions: readonly Transaction[],
): Promise<ReadonlyMap<string, RecordedReversal>> {
  const reversed = transactions.filter(({ status }) => status === "reversed").map(({ checkoutId }) => checkoutId);
  return reversed.length === 0 ? new Map() : store.search.findReversals(reversed);
}
