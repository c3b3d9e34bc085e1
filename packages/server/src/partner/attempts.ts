import type { Attempt } from "../store/staff.ts";
import type { Store } from "../store/store.ts";
import { RegularWriting } from "./regular-writing.ts";

/** How often what was gathered is written, in milliseconds. */
const WRITING_EVERY_MS = 1_000;

/** More that come in that time are dropped: no memory grows with somebody's mistakes. */
export const MOST_GATHERED = 10_000;

export interface AttemptNotesOptions {
  readonly store: Pick<Store, "recordAttempts">;
  /** Hears why the store did not take what was gathered: it is dropped. */
  readonly onFailure: (error: unknown) => void;
}

/** Gathers refused calls of partners and writes them together: no call waits for it, and none fails for it. */
export class AttemptNotes {
  readonly #options: AttemptNotesOptions;
  readonly #writing = new RegularWriting(WRITING_EVERY_MS, () => this.#write());
  #gathered: Attempt[] = [];

  constructor(options: AttemptNotesOptions) {
    this.#options = options;
  }

  note(attempt: Attempt): void {
    if (this.#gathered.length < MOST_GATHERED) this.#gathered.push(attempt);
  }

  /** @param sleep resolves early where the signal says so. */
  keepWriting(sleep: (ms: number, signal: AbortSignal) => Promise<void>): void {
    this.#writing.start(sleep);
  }

  /** Writes what is left. */
  close(): Promise<void> {
    return this.#writing.close();
  }

  async #write(): Promise<void> {
    const attempts = this.#gathered;
    if (attempts.length === 0) return;
    this.#gathered = [];
    try {
      await this.#options.store.recordAttempts(attempts);
    } catch (error) {
      this.#options.onFailure(error);
    }
  }
}
