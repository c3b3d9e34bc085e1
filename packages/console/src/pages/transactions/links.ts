import type { Transaction } from "../../api/staff-api.d.ts";

export function transactionHref({ txnId }: Pick<Transaction, "txnId">): string {
  return `/transactions/${encodeURIComponent(txnId)}`;
}
