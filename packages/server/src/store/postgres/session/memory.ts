/**
 * What processes keep in memory of partners, tokens, secrets and catalogues. It holds as long as the watch says so, and is
 * forgotten as a whole.
 */
export class Memory {
  readonly #isFresh: () => boolean;
  readonly #most: number;
  readonly #values = new Map<string, unknown>();
  #generation = 0;

  /** @param most entries; what is beyond is asked for anew. */
  constructor(isFresh: () => boolean, most: number) {
    this.#isFresh = isFresh;
    this.#most = most;
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
      if (this.#values.size >= this.#most) this.#values.clear();
      this.#values.set(key, value);
    }
    return value;
  }
}
