/** The client's source of time. */
export interface Clock {
  /** Milliseconds since 1970. Used only for a Retry-After that is a date. */
  now(): number;
  /**
   * Monotonic milliseconds, for durations. Without it, durations are measured with `now`, which must then never be set
   * back.
   */
  monotonic?(): number;
  /** Resolves after `ms` milliseconds, or rejects as soon as the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Longest timer of all runtimes: a longer one would end at once. */
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

/** A time for differences only. */
export function monotonicMs(clock: Clock): number {
  return clock.monotonic === undefined ? clock.now() : clock.monotonic();
}

/** Waits `ms`. False if the wait would not end before `endsAt` (of `monotonicMs`), or if the caller aborts it. */
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

const FIRST_BACK_OFF_MS = 500;

/** Longest wait between two queries, unless the deployment asks for a longer one. */
export const LONGEST_BACK_OFF_MS = 20_000;

/**
 * Milliseconds to wait before the next attempt: a random time between a tenth of a limit and the limit. The limit doubles
 * with each wait. The randomness spreads callers that failed together.
 *
 * @param waits number of waits so far, from 1.
 * @param random gives a number from 0 to 1, without 1.
 */
export function backOffMs(waits: number, random: () => number): number {
  const limitMs = Math.min(LONGEST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** Math.min(waits - 1, 20));
  return Math.floor(limitMs * (0.1 + 0.9 * random()));
}

/** Longest wait that a Retry-After can ask for; a longer one is taken for a mistake. */
const LONGEST_RETRY_AFTER_MS = 600_000;

/**
 * The wait of a Retry-After in milliseconds, at most ten minutes. The header contains seconds or an HTTP date (RFC 9110).
 *
 * @param now milliseconds since 1970.
 */
export function readRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^[0-9]{1,9}$/.test(value.trim())) return Math.min(LONGEST_RETRY_AFTER_MS, Number(value) * 1_000);
  // HTTP dates are in GMT. Any other date could be read in the local zone.
  if (!/^[A-Z][a-z]{2,8}, .*GMT$/.test(value.trim())) return undefined;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.min(LONGEST_RETRY_AFTER_MS, Math.max(0, at - now));
}
