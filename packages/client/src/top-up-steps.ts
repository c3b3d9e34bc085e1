import type { Answer } from "./answers.ts";
import type { Failure, OperationName, Unsettled, UsedOtherwise } from "./failures.ts";
import type { Next, TopUpOutcome } from "./outcome.ts";
import { differences, type WirePurchase } from "./purchase.ts";
import type { TransactionResult } from "./values.ts";
import { asksToWait, isNotProcessed, leavesOpen, locksOut, retryAfterOf } from "./verdicts.ts";

/*
 * What a top-up does next, as pure functions of what is known and of the answer that came. Two laws hold in every
 * line: success is said of a recorded result with this purchase's values only, and a refusal is believed only while
 * no attempt of this purchase can be under way.
 */

export interface TopUpState {
  readonly purchase: WirePurchase;
  /** Whether the deployment is known to answer a repeated top-up with the first one's result. */
  readonly repeatsAreSafe: boolean;
  /** An attempt may have been recorded, or may be yet. Once so, this only ends with the outcome. */
  readonly isOpen: boolean;
  /** The deployment has claimed a result that is not, or not yet, this purchase's success. */
  readonly wasClaimed: boolean;
  /** topupd has refused the purchase because its checkoutId is used with other values. */
  readonly wasUsedOtherwise: boolean;
  /** A repeat was refused: sending it once more can bring nothing new. */
  readonly wasRepeatRefused: boolean;
  /** A refusal in an unknown shape, that txn-status has still to confirm. */
  readonly toConfirm: Failure | undefined;
  readonly lastFailure: Failure | undefined;
}

export type Step =
  | { readonly do: "send" | "query"; readonly waitMs: number; readonly backOff: boolean }
  | { readonly do: "end"; readonly outcome: TopUpOutcome };

export interface Move {
  readonly state: TopUpState;
  readonly step: Step;
}

/** @param resumed whether it may have been sent before this call. */
export function begin(purchase: WirePurchase, repeatsAreSafe: boolean, resumed: boolean): Move {
  const nothing = { wasClaimed: false, wasUsedOtherwise: false, wasRepeatRefused: false };
  const unanswered = { toConfirm: undefined, lastFailure: undefined };
  const state = { purchase, repeatsAreSafe, isOpen: resumed, ...nothing, ...unanswered };
  return { state, step: { do: resumed ? "query" : "send", waitMs: 0, backOff: false } };
}

/** After an answer to subscription-package-topup, or none. */
export function afterTopUp(before: TopUpState, answer: Answer<TransactionResult>): Move {
  if (answer.ok) {
    const doubt = doubtOf(before.purchase, answer.value, "subscription-package-topup");
    if (doubt === undefined) return end(before, toppedUp(answer.value, answer.replayed));
    return wait("query", { ...before, isOpen: true, wasClaimed: true }, doubt);
  }
  const { failure } = answer;
  if (leavesOpen(failure)) {
    const isUsedOtherwise = failure.kind === "refused" && failure.reason === "checkout_used";
    const wasUsedOtherwise = before.wasUsedOtherwise || isUsedOtherwise;
    return wait("query", { ...before, isOpen: true, wasUsedOtherwise }, failure);
  }
  if (isNotProcessed(failure)) return wait(before.isOpen ? "query" : "send", before, failure);
  // The attempt before it, of which no answer came, may still arrive at the deployment.
  if (before.isOpen) return wait("query", { ...before, wasRepeatRefused: true }, failure);
  if (failure.kind === "refused") return end(before, { outcome: "refused", failure });
  return wait("query", { ...before, toConfirm: failure }, failure);
}

/** After an answer to txn-status, or none. */
export function afterQuery(before: TopUpState, answer: Answer<TransactionResult>): Move {
  if (answer.ok) return afterResult(before, answer.value);
  const { failure } = answer;
  if (failure.kind === "refused" && failure.reason === "never_topped_up") {
    return end(before, before.wasClaimed ? unknown(before, "ask_provider", failure) : { outcome: "never", failure });
  }
  if (asksToWait(failure)) return wait("query", before, failure);
  if (before.toConfirm !== undefined && !before.isOpen) {
    return end(before, { outcome: "refused", failure: before.toConfirm });
  }
  const mayRepeat = !before.wasRepeatRefused && !before.wasClaimed;
  if (failure.kind === "refused") {
    if (failure.reason === "not_topped_up") return wait(mayRepeat ? "send" : "query", before, failure);
    const next = failure.reason === "checkout_unknown" ? "ask_provider" : "mend_call";
    return end(before, unknown(before, next, failure));
  }
  if (locksOut(failure)) return end(before, unknown(before, "mend_call", failure));
  return wait(mayRepeat && before.repeatsAreSafe ? "send" : "query", before, failure);
}

/** Where no more is to be tried: the time is up, or the caller has stopped it. */
export function giveUp(state: TopUpState, afterMs: number): TopUpOutcome {
  const { isOpen, toConfirm, lastFailure } = state;
  if (!isOpen && toConfirm === undefined && lastFailure !== undefined) {
    return { outcome: "refused", failure: lastFailure };
  }
  return unknown(state, "query_again", lastFailure, afterMs);
}

function afterResult(before: TopUpState, result: TransactionResult): Move {
  const doubt = doubtOf(before.purchase, result, "txn-status");
  if (doubt === undefined) return end(before, toppedUp(result, true));
  if (doubt.kind === "unsettled") return wait("query", { ...before, isOpen: true, wasClaimed: true }, doubt);
  // Without topupd's word for it, the values may be this purchase's, written another way: as another service's name,
  // or with a fee in the amount.
  const isAnothers = before.wasUsedOtherwise && !before.wasClaimed;
  return end(before, isAnothers ? { outcome: "refused", failure: doubt } : unknown(before, "ask_provider", doubt));
}

/** Why a result is not this purchase's top-up; undefined if it is. */
function doubtOf(
  purchase: WirePurchase,
  recorded: TransactionResult,
  operation: OperationName,
): UsedOtherwise | Unsettled | undefined {
  const differs = differences(purchase, recorded);
  if (differs.length > 0) {
    const message = `A top-up with this checkoutId is on record, with another ${differs.join(", ")}.`;
    return { kind: "used_otherwise", operation, message, recorded, differs };
  }
  if (recorded.status === "success" || recorded.status === "reversed") return undefined;
  return { kind: "unsettled", operation, message: "The recorded result has a status that is not known.", recorded };
}

function toppedUp(result: TransactionResult, replayed: boolean): TopUpOutcome {
  return { outcome: "topped_up", result, replayed };
}

function unknown(state: TopUpState, next: Next["do"], failure: Failure | undefined, afterMs = 0): TopUpOutcome {
  const { checkoutId } = state.purchase;
  const waitMs = Math.max(afterMs, retryAfterOf(failure));
  return { outcome: "unknown", next: { do: next, checkoutId, afterMs: waitMs }, failure };
}

function end(state: TopUpState, outcome: TopUpOutcome): Move {
  return { state, step: { do: "end", outcome } };
}

function wait(action: "send" | "query", state: TopUpState, failure: Failure): Move {
  return {
    state: { ...state, lastFailure: failure },
    step: { do: action, waitMs: retryAfterOf(failure), backOff: true },
  };
}
