/** Writes what a process gathers beside its requests, again and again, and what is left when it ends. */
export class RegularWriting {
  readonly #everyMs: number;
  readonly #write: () => Promise<void>;
  readonly #closing = new AbortController();
  #writing: Promise<void> | undefined;

  /** @param write never rejects. */
  constructor(everyMs: number, write: () => Promise<void>) {
    this.#everyMs = everyMs;
    this.#write = write;
  }

  /** @param sleep resolves early where the signal says so. */
  start(sleep: (ms: number, signal: AbortSignal) => Promise<void>): void {
    this.#writing = this.#writeUntilClosed(sleep);
  }

  /** Writes also what has come while a write was under way. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#writing;
    await this.#write();
  }

  async #writeUntilClosed(sleep: (ms: number, signal: AbortSignal) => Promise<void>): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await sleep(this.#everyMs, signal);
      if (!signal.aborted) await this.#write();
    }
  }
}
