import type { Answer } from "./answers.ts";
import { backOffMs, LONGEST_BACK_OFF_MS } from "./back-off.ts";
import type { Clock } from "./clock.ts";
import type { Limits } from "./exchange.ts";
import type { TopUpOutcome } from "./outcome.ts";
import type { WirePurchase } from "./purchase.ts";
import { afterQuery, afterTopUp, begin, giveUp, type TopUpState } from "./top-up-steps.ts";
import type { TransactionResult } from "./values.ts";

/** How a top-up is sent and asked about. */
export interface TopUpCalls {
  readonly send: (purchase: WirePurchase, limits: Limits) => Promise<Answer<TransactionResult>>;
  readonly query: (checkoutId: string, limits: Limits) => Promise<Answer<TransactionResult>>;
  readonly clock: Clock;
  /** From 0 to 1, without 1. */
  readonly random: () => number;
}

export interface TopUpLimits extends Limits {
  readonly giveUpAfterMs: number;
  readonly resumed: boolean;
  readonly repeatsAreSafe: boolean;
}

/**
 * Sends a top-up and does not rest until its outcome is certain or the time is up. The steps decide; this waits,
 * sends and asks.
 *
 * @throws the signal's reason where it had aborted before anything was sent, and nothing else.
 */
export async function carryOut(
  calls: TopUpCalls,
  purchase: WirePurchase,
  { giveUpAfterMs, resumed, repeatsAreSafe, timeoutMs, signal }: TopUpLimits,
): Promise<TopUpOutcome> {
  signal?.throwIfAborted();
  const { clock } = calls;
  const endsAt = clock.now() + giveUpAfterMs;
  let { state, step } = begin(purchase, repeatsAreSafe, resumed);
  for (let waits = 0; ; waits += 1) {
    if (step.do === "end") return step.outcome;
    const waitMs = step.backOff ? Math.max(step.waitMs, backOffMs(waits, calls.random)) : step.waitMs;
    if (waits > 0) {
      const goesOn = clock.now() + waitMs < endsAt && (await slept(clock, waitMs, signal));
      if (!goesOn || clock.now() >= endsAt) return giveUp(state, Math.max(step.waitMs, LONGEST_BACK_OFF_MS));
    }
    const limits = { signal, timeoutMs: Math.min(timeoutMs, endsAt - clock.now()) };
    ({ state, step } =
      step.do === "send"
        ? afterTopUp(state, await calls.send(purchase, limits))
        : afterQuery(state, await calls.query(purchase.checkoutId, limits)));
    if (step.do !== "end" && signal?.aborted === true) return giveUp(state, afterAbort(state));
  }
}

/** False where the wait was broken off. */
async function slept(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<boolean> {
  try {
    await clock.sleep(ms, signal);
    return signal?.aborted !== true;
  } catch {
    return false;
  }
}

/** Who stops the waiting may ask at once. */
function afterAbort({ lastFailure }: TopUpState): number {
  return lastFailure?.kind === "no_answer" && lastFailure.why === "aborted" ? 0 : LONGEST_BACK_OFF_MS;
}
