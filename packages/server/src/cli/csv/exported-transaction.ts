import type { ExportedTransaction } from "../../operations/export-transactions.ts";
import { isoTime } from "../output.ts";
import { type Showing, transactionJson } from "../words/transaction-output.ts";

/** A transaction as a list shows it, and how it was taken back; what does not hold is null. */
export function exportedTransaction({ transaction, reversal }: ExportedTransaction, showing: Showing) {
  return {
    ...transactionJson(transaction, showing),
    reversedAt: reversal === undefined ? null : isoTime(reversal.at),
    reversedBy: reversal?.author ?? null,
    reversalReason: reversal?.reason ?? null,
  };
}

type Row = ReturnType<typeof exportedTransaction>;

const COLUMNS = [
  ...["txnId", "checkoutId", "status", "partner", "environment", "cuid", "service", "reqId", "bouquetId"],
  ...["amount", "txnDate", "at", "udf1", "udf2", "reversedAt", "reversedBy", "reversalReason"],
] as (keyof Row)[];

export const TRANSACTIONS_HEADER: readonly string[] = COLUMNS;

export function transactionLine(row: Row): readonly string[] {
  return COLUMNS.map((column) => row[column] ?? "");
}
