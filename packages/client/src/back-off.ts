const FIRST_BACK_OFF_MS = 500;

/** The longest wait between two questions, unless the deployment asks for a longer one. */
export const LONGEST_BACK_OFF_MS = 20_000;

/**
 * How long to wait before the next attempt, in milliseconds: any time between a tenth of a limit and the limit,
 * which doubles, so that callers who failed together do not come back together, and none comes back at once.
 *
 * @param waits how many waits there were, from 1.
 * @param random from 0 to 1, without 1.
 */
export function backOffMs(waits: number, random: () => number): number {
  const limitMs = Math.min(LONGEST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** Math.min(waits - 1, 20));
  return Math.floor(limitMs * (0.1 + 0.9 * random()));
}
