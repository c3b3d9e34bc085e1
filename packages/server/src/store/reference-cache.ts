/** Entries are small, and few partners have many tokens. */
const MOST_VALUES = 10_000;

/**
 * Keeps reference data in memory: tokens with their partners, secrets and catalogues, which every request needs and only
 * staff change. Each engine says when to forget it.
 */
export class ReferenceCache {
  readonly #isCurrent: () => boolean;
  readonly #most: number;
  readonly #values = new Map<string, unknown>();
  #generation = 0;

  /** @param isCurrent whether kept values can be used; may call {@link forget}. @param most values are kept. */
  constructor(isCurrent: () => boolean, most = MOST_VALUES) {
    this.#isCurrent = isCurrent;
    this.#most = most;
  }

  /**
   * Finds a value, or loads it, at once or asynchronously. A missing value (undefined) is not kept: requests for what does
   * not exist would fill the memory.
   */
  recall<Loaded>(key: string, load: () => Loaded): Loaded | Awaited<Loaded> {
    if (this.#isCurrent()) {
      const known = this.#values.get(key);
      if (known !== undefined) return known as Awaited<Loaded>;
    }
    const generation = this.#generation;
    const keep = <Value>(value: Value): Value => {
      // A value that was read before a change must not be kept after it.
      if (value !== undefined && generation === this.#generation && this.#isCurrent()) this.#keep(key, value);
      return value;
    };
    const loaded = load();
    return loaded instanceof Promise ? (loaded.then(keep) as Loaded) : keep(loaded);
  }

  forget(): void {
    this.#values.clear();
    this.#generation += 1;
  }

  #keep(key: string, value: unknown): void {
    if (this.#values.size >= this.#most) this.#values.delete(this.#values.keys().next().value as string);
    this.#values.set(key, value);
  }
}

const tokenKeys = new WeakMap<Uint8Array, string>();

/** The key of the token with a hash, made once for each array. */
export function tokenKey(hash: Uint8Array): string {
  const known = tokenKeys.get(hash);
  if (known !== undefined) return known;
  const key = `token ${Buffer.from(hash).toString("base64")}`;
  tokenKeys.set(hash, key);
  return key;
}
