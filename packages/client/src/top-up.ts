import type { Answer } from "./answers.ts";
import { backOffMs, type Clock, LONGEST_BACK_OFF_MS, monotonicMs, sleptBefore } from "./clock.ts";
import type { Limits } from "./exchange.ts";
import type { TopUpOutcome } from "./outcome.ts";
import type { WirePurchase } from "./purchase.ts";
import { afterQuery, afterTopUp, begin, giveUp, type Move, type Step, type TopUpState } from "./top-up-steps.ts";
import type { TransactionResult } from "./values.ts";

export interface TopUpCalls {
  readonly send: (purchase: WirePurchase, limits: Limits) => Promise<Answer<TransactionResult>>;
  readonly query: (checkoutId: string, limits: Limits) => Promise<Answer<TransactionResult>>;
  readonly clock: Clock;
  /** Gives a number from 0 to 1, without 1. */
  readonly random: () => number;
}

export interface TopUpLimits extends Limits {
  readonly giveUpAfterMs: number;
  readonly resumed: boolean;
  readonly repeatsAreSafe: boolean;
}

/**
 * Sends a top-up, and repeats or queries until the outcome is certain or the time is up. top-up-steps.ts decides.
 *
 * @throws only the signal's reason, if it aborted before the first request.
 */
export async function carryOut(calls: TopUpCalls, purchase: WirePurchase, limits: TopUpLimits): Promise<TopUpOutcome> {
  limits.signal?.throwIfAborted();
  let move = begin(purchase, limits.repeatsAreSafe, limits.resumed);
  const endsAt = monotonicMs(calls.clock) + limits.giveUpAfterMs;
  try {
    for (let waits = 0; ; waits += 1) {
      const { state, step } = move;
      if (step.do === "end") return step.outcome;
      if (waits > 0 && !(await waited(calls, step, waits, endsAt, limits.signal))) {
        return giveUp(state, Math.max(step.waitMs, LONGEST_BACK_OFF_MS));
      }
      move = await take(calls, move, endsAt, limits);
      if (move.step.do !== "end" && limits.signal?.aborted === true) return giveUp(move.state, afterAbort(move.state));
    }
  } catch {
    // An unexpected error in the clock, the random source or an answer. A request may have been sent.
    return giveUp({ ...move.state, isOpen: true }, LONGEST_BACK_OFF_MS);
  }
}

async function take(calls: TopUpCalls, { state, step }: Move, endsAt: number, limits: TopUpLimits): Promise<Move> {
  const timeoutMs = Math.min(limits.timeoutMs, endsAt - monotonicMs(calls.clock));
  const { signal } = limits;
  if (step.do === "send") return afterTopUp(state, await calls.send(state.purchase, { signal, timeoutMs }));
  return afterQuery(state, await calls.query(state.purchase.checkoutId, { signal, timeoutMs }));
}

/** Waits before a step. False if there is no time, or if the caller aborted. */
async function waited(
  { clock, random }: TopUpCalls,
  step: Exclude<Step, { readonly do: "end" }>,
  waits: number,
  endsAt: number,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const waitMs = step.backOff ? Math.max(step.waitMs, backOffMs(waits, random)) : step.waitMs;
  return sleptBefore(endsAt, clock, waitMs, signal);
}

/** A caller that aborts the wait may query at once. */
function afterAbort({ lastFailure }: TopUpState): number {
  return lastFailure?.kind === "no_answer" && lastFailure.why === "aborted" ? 0 : LONGEST_BACK_OFF_MS;
}
