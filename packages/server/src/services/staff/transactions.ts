import type { CustomerProfile } from "../../domain/customer.ts";
import type { ReversalRefusal } from "../../domain/ledger.ts";
import type { Money } from "../../domain/money.ts";
import type { Transaction } from "../../domain/top-up.ts";
import { isTransactionId } from "../../domain/transaction-id.ts";
import type { Instant } from "../../domain/wall-time.ts";
import type { RecordedReversal, TransactionFilter } from "../../store/search.ts";
import { type Actor, correctingOf, type Ports, type ReadingPorts } from "../ports.ts";
import { correctionsFor } from "./connections.ts";
import { type Effect, type ExplainedEntry, readAloud } from "./subscriptions.ts";

export interface ListRequest {
  readonly filter: TransactionFilter;
  /** Of whichever of these customers, in place of the filter's one; undefined where the filter alone says whose. */
  readonly cuids?: readonly string[] | undefined;
  /** The cursor of the former page; undefined for the first. */
  readonly cursor: string | undefined;
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
  { store }: ReadingPorts,
  { filter, cuids, cursor, limit }: ListRequest,
): Promise<ListAnswer> {
  const page = { before: cursor, limit: limit + 1 };
  const filters = cuids === undefined ? [filter] : cuids.map((cuid) => ({ ...filter, cuid }));
  const lists = await Promise.all(filters.map((each) => store.search.listTransactions(each, page)));
  const found = lists.flat().toSorted((a, b) => (a.txnId < b.txnId ? 1 : -1));
  const transactions = found.slice(0, limit);
  return { transactions, cursor: found.length > limit ? transactions.at(-1)?.txnId : undefined };
}

export interface ReversibleTransaction {
  readonly transaction: Transaction;
  /** Undefined where it was not reversed. */
  readonly reversal: RecordedReversal | undefined;
}

/** All transactions that a filter lets through, newest first, `atOnce` at a time, with their reversals. */
export async function* readTransactions(
  { store }: ReadingPorts,
  filter: TransactionFilter,
  atOnce: number,
): AsyncGenerator<readonly ReversibleTransaction[]> {
  let before: string | undefined;
  do {
    const page = await store.search.listTransactions(filter, { before, limit: atOnce });
    const reversed = page.filter(({ status }) => status === "reversed").map(({ txnId }) => txnId);
    const reversals = await store.search.findReversals(reversed);
    yield page.map((transaction) => ({ transaction, reversal: reversals.get(transaction.txnId) }));
    before = page.length < atOnce ? undefined : page.at(-1)?.txnId;
  } while (before !== undefined);
}

/** From when on top-ups are all on record; undefined where a list that begins at `from` lacks none. */
export async function findPrunedBefore(
  { store }: ReadingPorts,
  { from }: { readonly from: Instant | undefined },
): Promise<Instant | undefined> {
  const horizon = await store.retention.prunedBefore();
  return horizon !== undefined && (from === undefined || from < horizon) ? horizon : undefined;
}

export interface ShownTransaction {
  readonly transaction: Transaction;
  /** Undefined where nothing is left of the customer but the records. */
  readonly customer: CustomerProfile | undefined;
  /** Undefined where its entry is missing, which a check reports. */
  readonly plan: string | undefined;
  readonly effect: Effect | undefined;
  readonly reversal: (RecordedReversal & { readonly effect: Effect | undefined }) | undefined;
}

/**
 * A recorded top-up, and what it did.
 * @param request.id a txnId or a checkoutId.
 * @returns undefined where no top-up with this id is on record.
 */
export async function showTransaction(
  { store }: ReadingPorts,
  { id }: { readonly id: string },
): Promise<ShownTransaction | undefined> {
  const transaction = await findTransaction({ store }, id);
  if (transaction === undefined) return undefined;
  const found = await store.findConnection(transaction);
  const { txnId, status } = transaction;
  const recorded = status === "reversed" ? (await store.search.findReversals([txnId])).get(txnId) : undefined;
  const explained = (await store.search.findLedgers(transaction)).map((ledger) => readAloud(ledger));
  const isIts = ({ entry }: ExplainedEntry) => entry.kind === "top_up" && entry.txnId === txnId;
  const plan = explained.find(({ entries }) => entries.some(isIts));
  const made = plan?.entries.find(isIts);
  const reversed = plan?.entries.find(({ entry }) => entry.seq === made?.reversedBy);
  return {
    ...{ transaction, customer: found?.profile, plan: plan?.plan, effect: made && effectOf(made) },
    reversal: recorded && { ...recorded, effect: reversed && effectOf(reversed) },
  };
}

function effectOf({ before, entry }: ExplainedEntry): Effect {
  return { before, after: entry.after };
}

/** @param id a txnId or a checkoutId. */
export async function findTransaction({ store }: ReadingPorts, id: string): Promise<Transaction | undefined> {
  return isTransactionId(id) ? (await store.search.findByTxnIds([id])).get(id) : store.findTransaction(id);
}

export interface ReversalRequest {
  /** A txnId or a checkoutId. */
  readonly id: string;
  readonly reason: string;
  /** Whose and of what amount it must be; undefined for any. */
  readonly partnerId?: number | undefined;
  readonly amount?: Money | undefined;
  /** Finds out what would be done, and does nothing. */
  readonly preview?: boolean | undefined;
}

export type ReversalAnswer =
  | ({ readonly kind: "reversed"; readonly transaction: Transaction; readonly plan: string } & Effect)
  | { readonly kind: Exclude<ReversalRefusal, "already_reversed"> }
  /** It is not the one that was meant. */
  | { readonly kind: "another"; readonly transaction: Transaction }
  | {
      readonly kind: "already_reversed";
      readonly transaction: Transaction;
      readonly reversal: RecordedReversal | undefined;
    };

/** Reverses one top-up, for good. */
export async function reverseTransaction(
  ports: Ports,
  actor: Actor,
  { id, reason, partnerId, amount, preview }: ReversalRequest,
): Promise<ReversalAnswer> {
  const { store } = ports;
  const transaction = await findTransaction(ports, id);
  if (transaction === undefined) return { kind: "not_found" };
  const isOthers = partnerId !== undefined && partnerId !== transaction.partnerId;
  if (isOthers || (amount ?? transaction.amount) !== transaction.amount) return { kind: "another", transaction };
  const outcome = await correctionsFor(ports, { preview }).reverse(
    transaction.checkoutId,
    correctingOf(ports, actor, reason),
  );
  if (outcome.kind === "reversed") {
    const { plan, before, entry } = outcome.correction;
    return { kind: "reversed", transaction: outcome.transaction, plan, before, after: entry.after };
  }
  if (outcome.kind !== "already_reversed") return { kind: outcome.kind };
  const { txnId } = transaction;
  const reversal = (await store.search.findReversals([txnId])).get(txnId);
  return { kind: "already_reversed", transaction: { ...transaction, status: "reversed" }, reversal };
}
