/** Work that goes on after a request was answered, until it is done or the process is asked to end. */
export class Background {
  readonly #ending = new AbortController();
  readonly #running = new Set<Promise<void>>();
  readonly #onFailure: (error: unknown) => void;

  constructor(onFailure: (error: unknown) => void) {
    this.#onFailure = onFailure;
  }

  /** @param work ends soon, and as it likes, once the signal says so. */
  begin(work: (ending: AbortSignal) => Promise<void>): void {
    const running: Promise<void> = work(this.#ending.signal)
      .catch(this.#onFailure)
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Resolves once nothing goes on any more. */
  async end(): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#running);
  }
}
