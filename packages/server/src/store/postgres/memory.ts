/** Entries are small, and few partners have many tokens; what is beyond this is asked for anew. */
const MOST = 10_000;

/**
 * What processes keep in memory of partners, tokens, secrets and catalogues. It holds as long as the watch
 * says so, and is forgotten as a whole with the first change.
 */
export class Memory {
  readonly #isFresh: () => boolean;
  readonly #values = new Map<string, unknown>();
  #generation = 0;

  constructor(isFresh: () => boolean) {
    this.#isFresh = isFresh;
  }

  forget(): void {
    this.#values.clear();
    this.#generation += 1;
  }

  /** What is not there is not remembered: whoever asks for what does not exist would fill the memory with it. */
  async recall<Value>(key: string, load: () => Promise<Value | undefined>): Promise<Value | undefined> {
    if (this.#isFresh()) {
      const known = this.#values.get(key);
      if (known !== undefined) return known as Value;
    }
    const generation = this.#generation;
    const value = await load();
    // What was read before a change must not be kept after it.
    if (value !== undefined && generation === this.#generation && this.#isFresh()) {
      if (this.#values.size >= MOST) this.#values.clear();
      this.#values.set(key, value);
    }
    return value;
  }
}
