import type { Transaction } from "../domain/top-up.ts";
import type { TransactionFilter } from "../store/search.ts";
import type { Ports } from "./ports.ts";

/** The most that one page holds. */
export const MAX_TRANSACTIONS = 1_000;

export interface ListRequest {
  readonly filter: TransactionFilter;
  /** Of whichever of these customers, in place of the filter's one; undefined where the filter alone says whose. */
  readonly cuids?: readonly string[] | undefined;
  /** The cursor of the former page; undefined for the first. */
  readonly cursor: string | undefined;
  /** From 1 to {@link MAX_TRANSACTIONS}. */
  readonly limit: number;
}

export interface ListAnswer {
  /** By their txnIds, newest first. */
  readonly transactions: readonly Transaction[];
  /** Where the next page goes on: the txnId of this one's last transaction; undefined at the end. */
  readonly cursor: string | undefined;
}

/**
 * A page of recorded top-ups. Going on by the cursor shows none twice, and all that were recorded when the first
 * page was shown, however many come meanwhile.
 */
export async function listTransactions(
  { store }: Pick<Ports, "store">,
  { filter, cuids, cursor, limit }: ListRequest,
): Promise<ListAnswer> {
  const page = { before: cursor, limit: limit + 1 };
  const filters = cuids === undefined ? [filter] : cuids.map((cuid) => ({ ...filter, cuid }));
  const lists = await Promise.all(filters.map((each) => store.search.listTransactions(each, page)));
  const found = lists.flat().toSorted((a, b) => (a.txnId < b.txnId ? 1 : -1));
  const transactions = found.slice(0, limit);
  return { transactions, cursor: found.length > limit ? transactions.at(-1)?.txnId : undefined };
}
