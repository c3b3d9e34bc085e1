import type { Instant } from "../../../domain/calendar.ts";
import type { Settle } from "./settling.ts";

/** Whoever waits for an answer to something else does not notice a commit that takes no longer than this, in ms. */
const QUICK_MS = 2;
/** So many slow ones in a row are the disk's; one by itself met a checkpoint, or somebody else who wrote. */
const SLOW_IN_A_ROW = 2;
/** Batches that go to the thread before another is tried here. */
const AWAY_FOR = 500;

/**
 * Settles a top-up that comes alone here, and several in the thread. To hand a batch over and to hear of it wakes two
 * threads, which on an idle machine can take as long as a commit does on a quick disk; and who comes alone keeps hardly
 * anybody waiting. Where the disk is slow, or the machine busy, everything goes to the thread.
 */
export function settleHereOrThere(here: Settle, there: Settle, clock: () => Instant): Settle {
  let slow = 0;
  let awayFor = 0;
  return async (batch) => {
    if (batch.length > 1) return there(batch);
    if (awayFor > 0) {
      awayFor -= 1;
      return there(batch);
    }
    const began = clock();
    try {
      return await here(batch);
    } finally {
      slow = clock() - began > QUICK_MS ? slow + 1 : 0;
      if (slow === SLOW_IN_A_ROW) [slow, awayFor] = [0, AWAY_FOR];
    }
  };
}
