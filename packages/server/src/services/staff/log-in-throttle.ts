import type { Instant } from "../../domain/wall-time.ts";

/** So many failures for a name or an address within this time, and it has to wait as long. */
const MOST_FAILURES = 10;
const WINDOW_MS = 15 * 60_000;
/** Names and addresses that are remembered: beyond them, the oldest is forgotten. */
const MOST_REMEMBERED = 10_000;

interface Failures {
  readonly count: number;
  /** When they are forgotten. */
  readonly until: Instant;
}

/** Counts log-ins that fail, in memory: whoever guesses passwords is to take very long. */
export class LogInThrottle {
  readonly #clock: () => Instant;
  readonly #failures = new Map<string, Failures>();

  constructor(clock: () => Instant) {
    this.#clock = clock;
  }

  /**
   * Begins an attempt, which counts as failed until it has succeeded: many at a time are no way around it.
   * @param by a name, an address.
   * @returns what takes it back; or for how many milliseconds nothing is tried.
   */
  begin(...by: readonly string[]): { readonly succeeded: () => void } | { readonly waitMs: number } {
    const now = this.#clock();
    const waitMs = Math.max(...by.map((each) => this.#waitMs(each, now)));
    if (waitMs > 0) return { waitMs };
    for (const each of by) this.#count(each, now);
    return {
      succeeded: () => {
        for (const each of by) this.#takeBack(each);
      },
    };
  }

  #waitMs(by: string, now: Instant): number {
    const { count = 0, until = now } = this.#failures.get(by) ?? {};
    return count < MOST_FAILURES ? 0 : until - now;
  }

  #count(by: string, now: Instant): void {
    const before = this.#failures.get(by);
    const isOver = before === undefined || before.until <= now;
    const count = isOver ? 1 : before.count + 1;
    const isLast = isOver || count === MOST_FAILURES;
    // The one that was counted last is the last to be forgotten.
    this.#failures.delete(by);
    this.#failures.set(by, { count, until: isLast ? now + WINDOW_MS : before.until });
    const [oldest] = this.#failures.size > MOST_REMEMBERED ? this.#failures.keys() : [];
    if (oldest !== undefined) this.#failures.delete(oldest);
  }

  #takeBack(by: string): void {
    const before = this.#failures.get(by);
    if (before !== undefined && before.count > 0) this.#failures.set(by, { ...before, count: before.count - 1 });
  }
}
