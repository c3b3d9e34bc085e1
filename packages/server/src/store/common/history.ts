import type { Instant } from "../../domain/calendar.ts";
import type { OnRecord } from "../../domain/history.ts";
import type { HistoricTopUp, StatedReversal } from "../../domain/history-row.ts";
import { type TopUpRow, toTransaction } from "./rows.ts";

/** What a store finds of the checkouts and txnIds of some top-ups. */
export interface OnRecordRows {
  readonly topUps: readonly TopUpRow[];
  readonly reversals: readonly ReversalRow[];
  readonly txnIds: readonly { readonly txn_id: string; readonly checkout_id: string }[];
  readonly retired: readonly { readonly checkout_id: string }[];
  readonly prunedBefore: Instant | undefined;
}

export interface ReversalRow extends StatedReversal {
  readonly checkout_id: string;
}

export function toReversals(rows: readonly ReversalRow[]): ReadonlyMap<string, StatedReversal> {
  return new Map(rows.map(({ checkout_id: id, at, author, reason }) => [id, { at, author, reason }]));
}

export function toOnRecord({ topUps, reversals, txnIds, retired, prunedBefore }: OnRecordRows): OnRecord {
  const reversalOf = toReversals(reversals);
  return {
    topUps: new Map(
      topUps.map((row): [string, HistoricTopUp] => [
        row.checkout_id,
        { transaction: toTransaction(row), reversal: reversalOf.get(row.checkout_id) },
      ]),
    ),
    checkoutIds: new Map(txnIds.map(({ txn_id, checkout_id }) => [txn_id, checkout_id])),
    retired: new Set(retired.map(({ checkout_id }) => checkout_id)),
    prunedBefore,
  };
}
