/** Where the client's time comes from. Tests and campaigns bring their own. */
export interface Clock {
  /** Milliseconds since 1970. Only a Retry-After that is a date is read by it. */
  now(): number;
  /**
   * Milliseconds since any moment, by a clock that nobody can set: durations are measured by it. A clock without it
   * says with `now` that it is never set.
   */
  monotonic?(): number;
  /** Resolves after `ms` milliseconds, or rejects as soon as the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Timers of all runtimes take no more: a longer one would end at once. */
export const LONGEST_SLEEP_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason);
        return;
      }
      const stop = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(
        () => {
          signal?.removeEventListener("abort", stop);
          resolve();
        },
        Math.min(ms, LONGEST_SLEEP_MS),
      );
      signal?.addEventListener("abort", stop, { once: true });
    }),
};

/** For differences only. */
export function monotonicMs(clock: Clock): number {
  return clock.monotonic === undefined ? clock.now() : clock.monotonic();
}

/** Waits if there is time for it, in milliseconds of `monotonicMs`. False where there is not, or the caller breaks it off. */
export async function sleptBefore(
  endsAt: number,
  clock: Clock,
  ms: number,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  if (monotonicMs(clock) + ms >= endsAt) return false;
  try {
    await clock.sleep(ms, signal);
  } catch {
    return false;
  }
  return signal?.aborted !== true && monotonicMs(clock) < endsAt;
}
