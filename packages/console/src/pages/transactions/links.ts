import type { Transaction } from "../../api/types.ts";

export function transactionHref({ txnId }: Pick<Transaction, "txnId">): string {
  return `/transactions/${encodeURIComponent(txnId)}`;
}
