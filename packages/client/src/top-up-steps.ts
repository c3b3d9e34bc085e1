import type { Answer } from "./answers.ts";
import type { Failure, OperationName, Unsettled, UsedOtherwise } from "./failures.ts";
import type { Next, TopUpOutcome } from "./outcome.ts";
import { differences, type WirePurchase } from "./purchase.ts";
import type { TransactionResult } from "./values.ts";
import {
  agrees,
  asksToWait,
  confirms,
  isNotProcessed,
  isOfTopUpsOnly,
  leavesOpen,
  locksOut,
  retryAfterOf,
} from "./verdicts.ts";

/*
 * Decides the next step of a top-up, by pure functions of its state and of the answer. Two laws: only a recorded result
 * with this purchase's values is a success; a refusal counts only if no request of this purchase can be open, and
 * after txn-status has confirmed it.
 */

/**
 * A refusal in a deployment's own terms may mean "not yet". It counts after txn-status has confirmed it at once, and again
 * when open requests should have arrived.
 */
const CONFIRMATIONS = 2;
const CONFIRMED_AFTER_MS = 30_000;

/**
 * A refusal names no checkoutId, so it may belong to another purchase while this one is being recorded. After this time the
 * record is usually there.
 */
const REFUSAL_CONFIRMED_AFTER_MS = 1_000;

export interface TopUpState {
  readonly purchase: WirePurchase;
  /** Whether the deployment answers a repeated top-up with the first one's result. */
  readonly repeatsAreSafe: boolean;
  /** Whether a request may have been recorded, or still may be. Once true, it stays true until the end. */
  readonly isOpen: boolean;
  /** Whether the deployment claimed a result that is not, or not yet, this purchase's success. */
  readonly wasClaimed: boolean;
  /** Whether topupd refused the purchase because the checkoutId is used with other values. */
  readonly wasUsedOtherwise: boolean;
  /** Whether a repeat was refused: a further one brings nothing new. */
  readonly wasRepeatRefused: boolean;
  /** Whether txn-status said `never_topped_up`. The answer names no checkoutId, so it counts only when said twice. */
  readonly saidNever: boolean;
  /** The refusal that txn-status must still confirm: topupd's once, any other twice. */
  readonly toConfirm: Failure | undefined;
  /** How often txn-status has confirmed a refusal in other terms. */
  readonly confirmed: number;
  readonly lastFailure: Failure | undefined;
}

export type Step =
  | { readonly do: "send" | "query"; readonly waitMs: number; readonly backOff: boolean }
  | { readonly do: "end"; readonly outcome: TopUpOutcome };

export interface Move {
  readonly state: TopUpState;
  readonly step: Step;
}

/** @param resumed whether the purchase may have been sent before. */
export function begin(purchase: WirePurchase, repeatsAreSafe: boolean, resumed: boolean): Move {
  const nothing = { wasClaimed: false, wasUsedOtherwise: false, wasRepeatRefused: false, saidNever: false };
  const unanswered = { toConfirm: undefined, confirmed: 0, lastFailure: undefined };
  const state = { purchase, repeatsAreSafe, isOpen: resumed, ...nothing, ...unanswered };
  return { state, step: { do: resumed ? "query" : "send", waitMs: 0, backOff: false } };
}

/** The move after an answer to subscription-package-topup, or after none. */
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
  // The unanswered request before it may still reach the deployment.
  if (before.isOpen) return wait("query", { ...before, wasRepeatRefused: true }, failure);
  const leastMs = failure.kind === "refused" ? REFUSAL_CONFIRMED_AFTER_MS : 0;
  return wait("query", { ...before, toConfirm: failure }, failure, leastMs);
}

/** The move after an answer to txn-status, or after none. */
export function afterQuery(before: TopUpState, answer: Answer<TransactionResult>): Move {
  if (answer.ok) return afterResult(before, answer.value);
  const { failure } = answer;
  const { toConfirm } = before;
  if (toConfirm !== undefined && !before.isOpen && agrees(failure, toConfirm)) {
    return end(before, { outcome: "refused", failure: toConfirm });
  }
  if (isOfTopUpsOnly(failure)) return wait("query", { ...before, saidNever: false }, failure);
  if (locksOut(failure)) return end(before, undecided(before, "fix_request", failure));
  if (failure.kind === "refused" && failure.reason === "never_topped_up") {
    if (before.wasClaimed || before.wasUsedOtherwise) return end(before, undecided(before, "ask_provider", failure));
    if (before.saidNever) return end(before, { outcome: "never_topped_up", failure });
    return wait("query", { ...before, saidNever: true }, failure);
  }
  if (asksToWait(failure)) return wait("query", before, failure);
  return afterOtherNo({ ...before, saidNever: false }, failure);
}

/** The move after a refusal by txn-status that is not final. */
function afterOtherNo(before: TopUpState, failure: Failure): Move {
  const mayRepeat = !before.wasRepeatRefused && !before.wasClaimed;
  if (failure.kind === "refused" && failure.reason === "not_topped_up") {
    // The deployment is topupd: repeats are safe, and the refusal in other terms was not its own.
    return wait(mayRepeat ? "send" : "query", { ...before, isOpen: true, toConfirm: undefined }, failure);
  }
  if (before.toConfirm !== undefined && !before.isOpen && confirms(failure)) {
    const confirmed = before.confirmed + 1;
    if (confirmed >= CONFIRMATIONS) return end(before, { outcome: "refused", failure: before.toConfirm });
    return wait("query", { ...before, confirmed }, failure, CONFIRMED_AFTER_MS);
  }
  if (failure.kind === "refused") {
    const next = failure.reason === "checkout_unknown" ? "ask_provider" : "fix_request";
    return end(before, undecided(before, next, failure));
  }
  return wait(mayRepeat && before.isOpen && before.repeatsAreSafe ? "send" : "query", before, failure);
}

/** The outcome if the time is up, or the caller has aborted. */
export function giveUp(state: TopUpState, afterMs: number): TopUpOutcome {
  const { isOpen, toConfirm, lastFailure } = state;
  if (!isOpen && toConfirm === undefined && lastFailure !== undefined) {
    return { outcome: "refused", failure: lastFailure };
  }
  // A deployment that only refuses in its own terms will continue to do so.
  const isInVain = lastFailure !== undefined && confirms(lastFailure) && !asksToWait(lastFailure);
  return undecided(state, isInVain ? "ask_provider" : "query_again", lastFailure, afterMs);
}

function afterResult(before: TopUpState, result: TransactionResult): Move {
  const doubt = doubtOf(before.purchase, result, "txn-status");
  if (doubt === undefined) return end(before, toppedUp(result, true));
  if (doubt.kind === "unsettled") return wait("query", { ...before, isOpen: true, wasClaimed: true }, doubt);
  // Unless topupd says so, the values may be this purchase's in another form: another service name, or a fee in the amount.
  const isAnothers = before.wasUsedOtherwise && !before.wasClaimed;
  return end(before, isAnothers ? { outcome: "refused", failure: doubt } : undecided(before, "ask_provider", doubt));
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

function undecided(state: TopUpState, next: Next["do"], failure: Failure | undefined, afterMs = 0): TopUpOutcome {
  const { checkoutId } = state.purchase;
  const waitMs = Math.max(afterMs, retryAfterOf(failure));
  return { outcome: "undecided", next: { do: next, checkoutId, afterMs: waitMs }, failure };
}

function end(state: TopUpState, outcome: TopUpOutcome): Move {
  return { state, step: { do: "end", outcome } };
}

function wait(action: "send" | "query", state: TopUpState, failure: Failure, leastMs = 0): Move {
  return {
    state: { ...state, lastFailure: failure },
    step: { do: action, waitMs: Math.max(leastMs, retryAfterOf(failure)), backOff: true },
  };
}
