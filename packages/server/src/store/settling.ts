import { isTooLateToRecord, type SettledTopUp, type TopUpCommand } from "../domain/top-up.ts";
import type { Instant } from "../domain/wall-time.ts";
import { StoreContended, StoreUnavailable } from "./errors.ts";
import type { Conclusion } from "./store.ts";

/** What is settled in batches: data alone, so that another thread can be asked for it. */
export type SettlingItem =
  | { readonly kind: "top_up"; readonly command: TopUpCommand }
  | { readonly kind: "conclusion"; readonly checkoutId: string };

/** What became of an item. */
export type Settled = SettledTopUp | Conclusion;

export const BATCH_LIMITS = {
  /** Large enough to share a commit widely, small enough that the event loop turns between two and locks are held briefly. */
  maxBatch: 256,
  /** Half a second of work and more, on a slow machine: beyond that, a clear refusal beats a long wait. */
  maxWaiting: 2_000,
} as const;

/** What whoever comes when {@link BATCH_LIMITS} has been reached is told. */
export function overloaded(): StoreContended {
  return new StoreContended("too many top-ups are waiting");
}

/**
 * To be asked right before a batch is committed.
 * @param decidedAt the time that its items were decided by.
 * @throws StoreUnavailable where nothing of it may be recorded any more.
 */
export function refuseIfTooLate(decidedAt: Instant, now: Instant): void {
  if (isTooLateToRecord(decidedAt, now)) throw new StoreUnavailable("the batch took too long to be recorded");
}
