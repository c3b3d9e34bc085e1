import type { Database } from "./database.ts";

/** Entries are small, and few partners have many tokens; what is beyond this is asked for anew. */
const MOST = 10_000;

/**
 * What every request asks for: tokens, secrets, the number of the newest catalogue. SQLite tells cheaply
 * whether another connection has committed anything since, be it that of the thread that settles; what this one changes, it
 * forgets itself.
 */
export class Memory {
  readonly #database: Database;
  readonly #version;
  readonly #values = new Map<string, unknown>();
  #seen: number | undefined;
  /** The view in which the version was asked for: it is the same throughout. */
  #seenIn: number | undefined;

  constructor(database: Database) {
    this.#database = database;
    this.#version = database.prepare("PRAGMA data_version");
  }

  forget(): void {
    this.#values.clear();
  }

  /**
   * To be called on a view, within {@link Database.read}. What is not there is not remembered: whoever asks for
   * what does not exist would fill the memory with it.
   */
  recall<Value>(key: string, load: () => Value | undefined): Value | undefined {
    if (this.#database.view !== this.#seenIn) this.#heed();
    const known = this.#values.get(key);
    if (known !== undefined) return known as Value;
    const value = load();
    if (value !== undefined) {
      if (this.#values.size >= MOST) this.forget();
      this.#values.set(key, value);
    }
    return value;
  }

  #heed(): void {
    const { data_version: version } = this.#version.get() as { data_version: number };
    if (version !== this.#seen) this.forget();
    this.#seen = version;
    this.#seenIn = this.#database.view;
  }
}
