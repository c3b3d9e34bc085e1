import type { Answer } from "./answers.ts";
import type { Failure, OperationName, Unsettled, UsedOtherwise } from "./failures.ts";
import type { Next, TopUpOutcome } from "./outcome.ts";
import { differences, type WirePurchase } from "./purchase.ts";
import type { TransactionResult } from "./values.ts";
import {
  agrees,
  asksToWait,
  bearsOut,
  isNotProcessed,
  isOfTopUpsOnly,
  leavesOpen,
  locksOut,
  retryAfterOf,
} from "./verdicts.ts";

/*
 * What a top-up does next, as pure functions of what is known and of the answer that came. Two laws hold in every
 * line: success is said of a recorded result with this purchase's values only, and a refusal is believed only while
 * no attempt of this purchase can be under way, and once txn-status has borne it out.
 */

/**
 * A no in words of a deployment's own may mean "not yet". It is believed when txn-status has borne it out at once, and
 * once more when whatever was under way should have arrived.
 */
const BORNE_OUT_TIMES = 2;
const BORNE_OUT_AFTER_MS = 30_000;

/**
 * No field of a refusal names the checkoutId, so one may be another purchase's, mixed up on the way while this one was
 * recorded. By then, that is on record as a rule.
 */
const REFUSAL_BORNE_OUT_AFTER_MS = 1_000;

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
  /**
   * txn-status has said that nothing was recorded and nothing ever will be. No field of that answer names the
   * checkoutId, so it may be another's that was mixed up on the way: money is given back for it once it is said twice.
   */
  readonly saidNever: boolean;
  /** The no to this purchase, that txn-status has still to bear out: topupd's once, one in words of its own twice. */
  readonly toConfirm: Failure | undefined;
  /** How often it has borne out one in words of its own. */
  readonly borneOut: number;
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
  const nothing = { wasClaimed: false, wasUsedOtherwise: false, wasRepeatRefused: false, saidNever: false };
  const unanswered = { toConfirm: undefined, borneOut: 0, lastFailure: undefined };
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
  const leastMs = failure.kind === "refused" ? REFUSAL_BORNE_OUT_AFTER_MS : 0;
  return wait("query", { ...before, toConfirm: failure }, failure, leastMs);
}

/** After an answer to txn-status, or none. */
export function afterQuery(before: TopUpState, answer: Answer<TransactionResult>): Move {
  if (answer.ok) return afterResult(before, answer.value);
  const { failure } = answer;
  const { toConfirm } = before;
  if (toConfirm !== undefined && !before.isOpen && agrees(failure, toConfirm)) {
    return end(before, { outcome: "refused", failure: toConfirm });
  }
  if (isOfTopUpsOnly(failure)) return wait("query", { ...before, saidNever: false }, failure);
  if (locksOut(failure)) return end(before, unknown(before, "mend_call", failure));
  if (failure.kind === "refused" && failure.reason === "never_topped_up") {
    if (before.wasClaimed || before.wasUsedOtherwise) return end(before, unknown(before, "ask_provider", failure));
    if (before.saidNever) return end(before, { outcome: "never", failure });
    return wait("query", { ...before, saidNever: true }, failure);
  }
  if (asksToWait(failure)) return wait("query", before, failure);
  return afterOtherNo({ ...before, saidNever: false }, failure);
}

/** After a no of txn-status that leaves something to do. */
function afterOtherNo(before: TopUpState, failure: Failure): Move {
  const mayRepeat = !before.wasRepeatRefused && !before.wasClaimed;
  if (failure.kind === "refused" && failure.reason === "not_topped_up") {
    // It is topupd that answers: a no in other words was not its own, and repeats are safe.
    return wait(mayRepeat ? "send" : "query", { ...before, isOpen: true, toConfirm: undefined }, failure);
  }
  if (before.toConfirm !== undefined && !before.isOpen && bearsOut(failure)) {
    const borneOut = before.borneOut + 1;
    if (borneOut >= BORNE_OUT_TIMES) return end(before, { outcome: "refused", failure: before.toConfirm });
    return wait("query", { ...before, borneOut }, failure, BORNE_OUT_AFTER_MS);
  }
  if (failure.kind === "refused") {
    const next = failure.reason === "checkout_unknown" ? "ask_provider" : "mend_call";
    return end(before, unknown(before, next, failure));
  }
  return wait(mayRepeat && before.isOpen && before.repeatsAreSafe ? "send" : "query", before, failure);
}

/** Where no more is to be tried: the time is up, or the caller has stopped it. */
export function giveUp(state: TopUpState, afterMs: number): TopUpOutcome {
  const { isOpen, toConfirm, lastFailure } = state;
  if (!isOpen && toConfirm === undefined && lastFailure !== undefined) {
    return { outcome: "refused", failure: lastFailure };
  }
  // A deployment that says nothing but no in words of its own will go on to say so.
  const isInVain = lastFailure !== undefined && bearsOut(lastFailure) && !asksToWait(lastFailure);
  return unknown(state, isInVain ? "ask_provider" : "query_again", lastFailure, afterMs);
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

function wait(action: "send" | "query", state: TopUpState, failure: Failure, leastMs = 0): Move {
  return {
    state: { ...state, lastFailure: failure },
    step: { do: action, waitMs: Math.max(leastMs, retryAfterOf(failure)), backOff: true },
  };
}
