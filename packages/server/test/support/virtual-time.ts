/** Time that passes as a test says: whoever sleeps wakes in the order of the times. */
export class VirtualTime {
  #now: number;
  readonly #turns: number;
  #sleepers: { readonly at: number; readonly wake: () => void }[] = [];

  /** @param turns of the event loop that work without any time may take. */
  constructor(now: number, turns = 1) {
    this.#now = now;
    this.#turns = turns;
  }

  readonly clock = (): number => this.#now;

  /** It is another clock only where a test sets its process's wall clock. */
  readonly stopwatch = (): number => this.#now;

  /** Resolves early where the signal says so. */
  readonly sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const wake = () => {
        signal?.removeEventListener("abort", wake);
        this.#sleepers = this.#sleepers.filter((each) => each !== sleeper);
        resolve();
      };
      const sleeper = { at: this.#now + ms, wake };
      this.#sleepers.push(sleeper);
      signal?.addEventListener("abort", wake);
      if (signal?.aborted === true) wake();
    });

  /** @param ms from now. */
  async pass(ms: number): Promise<void> {
    const end = this.#now + ms;
    await this.#settled();
    for (;;) {
      const next = Math.min(...this.#sleepers.map(({ at }) => at));
      if (next > end) break;
      this.#now = next;
      const awake = this.#sleepers.filter(({ at }) => at === next);
      for (const { wake } of awake) wake();
      await this.#settled();
    }
    this.#now = end;
  }

  /** Lets time pass until a promise is settled. @throws Error where that takes longer than `mostMs`. */
  async until<Result>(promise: Promise<Result>, mostMs: number): Promise<Result> {
    let isSettled = false;
    void promise
      .catch(() => {})
      .then(() => {
        isSettled = true;
      });
    const end = this.#now + mostMs;
    for (await this.#settled(); !isSettled && this.#now < end; ) await this.pass(50);
    if (!isSettled) throw new Error(`nothing came of it within ${mostMs} ms`);
    return promise;
  }

  /** Everything that happens without any time passing has happened. */
  async #settled(): Promise<void> {
    for (let turn = 0; turn < this.#turns; turn += 1) await new Promise(setImmediate);
  }
}
