import type { ReversalOutcome } from "../domain/correction.ts";
import type { Money } from "../domain/money.ts";
import type { Transaction } from "../domain/top-up.ts";
import type { RecordedReversal } from "../store/search.ts";
import { reasoned, type StaffPorts } from "./ports.ts";
import { findTransaction } from "./show-transaction.ts";

export interface ReversalRequest {
  /** A txnId or a checkoutId. */
  readonly id: string;
  readonly reason: string;
  /** What whoever asks takes for certain; undefined where they have not said so. */
  readonly partnerId: number | undefined;
  readonly amount: Money | undefined;
}

export type ReversalAnswer =
  | Extract<ReversalOutcome, { kind: "reversed" | "reversed_on_record" | "history_gone" | "not_found" }>
  | { readonly kind: "already_reversed"; readonly transaction: Transaction; readonly reversal: RecordedReversal }
  /** It is another partner's, or of another amount, than it was said to be: nothing was changed. */
  | { readonly kind: "another"; readonly transaction: Transaction };

/** Takes one top-up back, for good (decisions, "Corrections"). */
export async function reverseTransaction(ports: StaffPorts, request: ReversalRequest): Promise<ReversalAnswer> {
  const { store } = ports;
  const { id, reason, partnerId, amount } = request;
  const transaction = await findTransaction({ store }, id);
  if (transaction === undefined) return { kind: "not_found" };
  const isMeant =
    (partnerId === undefined || partnerId === transaction.partnerId) &&
    (amount === undefined || amount === transaction.amount);
  if (!isMeant) return { kind: "another", transaction };
  const outcome = await store.corrections.reverse(transaction.checkoutId, reasoned(ports, reason));
  if (outcome.kind !== "already_reversed") return outcome;
  const reversals = await store.search.findReversals([transaction.checkoutId]);
  return { ...outcome, reversal: reversals.get(transaction.checkoutId) as RecordedReversal };
}
