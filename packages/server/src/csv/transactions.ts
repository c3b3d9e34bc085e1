import { isoTimeOrNull } from "../services/staff/data.ts";
import { type Showing, transactionData } from "../services/staff/showing.ts";
import type { ReversibleTransaction } from "../services/staff/transactions.ts";
import { guardCell } from "./writing.ts";

export const TRANSACTIONS_HEADER = [
  ...(["txnId", "checkoutId", "status", "partner", "environment", "cuid", "service", "reqId", "bouquetId"] as const),
  ...(["amount", "txnDate", "at", "udf1", "udf2", "reversedAt", "reversedBy", "reversalReason"] as const),
];

/** A transaction as a list shows it, and how it was reversed; what does not hold is null. */
export function exportedTransaction({ transaction, reversal }: ReversibleTransaction, showing: Showing) {
  return {
    ...transactionData(transaction, showing),
    ...{ reversedAt: isoTimeOrNull(reversal?.at), reversedBy: reversal?.author ?? null },
    reversalReason: reversal?.reason ?? null,
  };
}

export function transactionCells(row: ReturnType<typeof exportedTransaction>): string[] {
  return TRANSACTIONS_HEADER.map((name) => guardCell(row[name] ?? ""));
}
