import type { AuditedChange } from "./audit.ts";
import type { Instant } from "./calendar.ts";
import type { Environment } from "./customer.ts";
import type { FieldProblem } from "./fields.ts";
import type { HistoricTopUp, StatedReversal } from "./history-row.ts";
import type { EffectKind } from "./import-effect.ts";
import { isCheckoutFromBefore } from "./pruning.ts";
import type { Transaction } from "./top-up.ts";

/*
 * Top-ups that another topupd has recorded come to stand beside those that were made here: partners are answered
 * by them, and settlements count them. What they bought is in the dates that were imported with the customers, so
 * no ledger learns of them, and no subscription can be moved by them.
 */

/** All that is on record of some top-ups, read inside the transaction that writes. */
export interface OnRecord {
  /** By checkoutId. */
  readonly topUps: ReadonlyMap<string, HistoricTopUp>;
  /** By txnId, the checkoutId that it belongs to. */
  readonly checkoutIds: ReadonlyMap<string, string>;
  /** Checkouts with which nothing may be recorded any more, because a partner was told so. */
  readonly retired: ReadonlySet<string>;
  /** From when on history is whole; undefined where nothing was let go. */
  readonly prunedBefore: Instant | undefined;
}

/** What an import does with one top-up. */
export type HistoryEffect =
  | { readonly kind: EffectKind }
  /** It was made here, and the file knows of a reversal that is not on record: the ledger has to learn of it. */
  | { readonly kind: "own_reversal"; readonly reversal: StatedReversal }
  | { readonly kind: "refused"; readonly problems: readonly FieldProblem[] };

/** What is to be written. */
export interface HistoryChanges {
  readonly effects: readonly HistoryEffect[];
  readonly added: readonly HistoricTopUp[];
  /** On record as imported before, and taken back since where they come from. */
  readonly reversed: readonly HistoricTopUp[];
}

/** Holds top-ups against what is on record, one after the other: each sees those before it. */
export function layHistory(onRecord: OnRecord, topUps: readonly HistoricTopUp[]): HistoryChanges {
  const [known, checkoutIds] = [new Map(onRecord.topUps), new Map(onRecord.checkoutIds)];
  const added: HistoricTopUp[] = [];
  const reversed: HistoricTopUp[] = [];
  const effects = topUps.map((topUp): HistoryEffect => {
    const { checkoutId, txnId } = topUp.transaction;
    const effect = effectOn({ ...onRecord, topUps: known, checkoutIds }, topUp);
    if (effect.kind === "added") added.push(topUp);
    if (effect.kind === "changed") reversed.push(topUp);
    if (effect.kind === "added" || effect.kind === "changed" || effect.kind === "own_reversal") {
      known.set(checkoutId, topUp);
      checkoutIds.set(txnId, checkoutId);
    }
    return effect;
  });
  return { effects, added, reversed };
}

function effectOn({ topUps, checkoutIds, retired, prunedBefore }: OnRecord, topUp: HistoricTopUp): HistoryEffect {
  const { checkoutId, txnId, at } = topUp.transaction;
  const recorded = topUps.get(checkoutId);
  if (recorded !== undefined) return compare(recorded, topUp, prunedBefore);
  if ((checkoutIds.get(txnId) ?? checkoutId) !== checkoutId)
    return refuse("txnId", "is that of another top-up on record here");
  if (retired.has(checkoutId))
    return refuse("checkoutId", "cannot be recorded: a partner was told here that it was never topped up");
  if (prunedBefore !== undefined && (at < prunedBefore || isCheckoutFromBefore(checkoutId, prunedBefore)))
    return refuse("at", letGo(prunedBefore));
  return { kind: "added" };
}

/** A reversal is news; that a file does not know of one yet is none. */
function compare(
  recorded: HistoricTopUp,
  stated: HistoricTopUp,
  prunedBefore: Instant = Number.NEGATIVE_INFINITY,
): HistoryEffect {
  const problems = differences(recorded, stated).map((field) => problemOf(field, "is another than on record here"));
  if (problems.length > 0) return { kind: "refused", problems };
  if (stated.reversal === undefined || recorded.reversal !== undefined) return { kind: "unchanged" };
  if (recorded.transaction.imported === true) return { kind: "changed" };
  const { reversal } = stated;
  if (reversal.at <= recorded.transaction.at)
    return refuse("reversedAt", "must be later than the top-up, since it was made here");
  return reversal.at < prunedBefore ? refuse("reversedAt", letGo(prunedBefore)) : { kind: "own_reversal", reversal };
}

/** By the names of the file. One that was taken back at both places is reversed, whoever did it there, and when. */
function differences(recorded: HistoricTopUp, stated: HistoricTopUp): string[] {
  const [one, other] = [described(recorded.transaction), described(stated.transaction)];
  return Object.keys(one).filter((field) => one[field] !== other[field]);
}

/** In CSV, an empty text and none are the same. */
function described({ partnerId, bouquetCode, udf1, udf2, ...rest }: Transaction): Record<string, unknown> {
  const { txnId, environment, cuid, service, reqId, amount, at } = rest;
  const where = { environment, cuid, service, reqId };
  return {
    txnId,
    partner: partnerId,
    ...where,
    bouquetId: bouquetCode,
    amount,
    at,
    udf1: udf1 ?? "",
    udf2: udf2 ?? "",
  };
}

/** What the audit trail keeps of an import, or of a part of it. The rows themselves are never changed. */
export function historyImported(
  environment: Environment,
  { added, reversed }: Pick<HistoryChanges, "added" | "reversed">,
): AuditedChange[] {
  if (added.length + reversed.length === 0) return [];
  const txnIds = added.map(({ transaction }) => transaction.txnId).toSorted();
  const taken = reversed.map(({ transaction }) => transaction.txnId);
  const summary = {
    topUps: added.length,
    amount: added.reduce((sum, { transaction }) => sum + transaction.amount, 0n),
    ...(txnIds.length > 0 ? { first: txnIds[0], last: txnIds.at(-1) } : {}),
  };
  const isReversal = taken.length > 0;
  const before = isReversal ? { status: "success" } : undefined;
  const after = { added: summary, ...(isReversal ? { status: "reversed", reversed: taken } : {}) };
  return [{ action: "transactions.import", subject: environment, before, after }];
}

function letGo(prunedBefore: Instant): string {
  return `is from before ${iso(prunedBefore)}, and history from before then was let go (topupd prune)`;
}

function refuse(field: string, problem: string): HistoryEffect {
  return { kind: "refused", problems: [problemOf(field, problem)] };
}

function problemOf(field: string, problem: string): FieldProblem {
  return { field, problem };
}

function iso(instant: Instant): string {
  return new Date(instant).toISOString();
}
