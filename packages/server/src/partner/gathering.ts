import type { Instant } from "../domain/wall-time.ts";
import type { Attempt, Store } from "../store/store.ts";

type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

/** Gathers something beside requests and writes it now and then: no request waits for it, and none fails for it. */
abstract class Gathering {
  readonly #everyMs: number;
  readonly #closing = new AbortController();
  #writing: Promise<void> | undefined;

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  /** Writes what was gathered. Never rejects. */
  protected abstract write(): Promise<void>;

  /** @param sleep resolves early where the signal says so. */
  keepWriting(sleep: Sleep): void {
    this.#writing = this.#writeUntilClosed(sleep);
  }

  /** Writes what is left, also what has come while a write was under way. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#writing;
    await this.write();
  }

  async #writeUntilClosed(sleep: Sleep): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await sleep(this.#everyMs, signal);
      if (!signal.aborted) await this.write();
    }
  }
}

interface GatheringOptions<Name extends keyof Store> {
  readonly store: Pick<Store, Name>;
  /** Called with the reason if the store did not take what was gathered. */
  readonly onFailure: (error: unknown) => void;
}

const ATTEMPTS_EVERY_MS = 1_000;

/** More that come in that time are dropped: no memory grows with somebody's mistakes. */
export const MOST_GATHERED = 10_000;

/** Gathers refused calls of partners. Those that the store does not take are dropped. */
export class AttemptNotes extends Gathering {
  readonly #options: GatheringOptions<"recordAttempts">;
  #gathered: Attempt[] = [];

  constructor(options: GatheringOptions<"recordAttempts">) {
    super(ATTEMPTS_EVERY_MS);
    this.#options = options;
  }

  note(attempt: Attempt): void {
    if (this.#gathered.length < MOST_GATHERED) this.#gathered.push(attempt);
  }

  protected override async write(): Promise<void> {
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

const TOKEN_USES_EVERY_MS = 30_000;

/** Gathers when each token was last used. What a process had gathered is lost if the process is killed. */
export class TokenUses extends Gathering {
  readonly #options: GatheringOptions<"recordTokenUses">;
  #gathered = new Map<string, Instant>();

  constructor(options: GatheringOptions<"recordTokenUses">) {
    super(TOKEN_USES_EVERY_MS);
    this.#options = options;
  }

  note(tokenId: string, at: Instant): void {
    this.#gathered.set(tokenId, at);
  }

  protected override async write(): Promise<void> {
    const uses = this.#gathered;
    if (uses.size === 0) return;
    this.#gathered = new Map();
    try {
      await this.#options.store.recordTokenUses(uses);
    } catch (error) {
      // What has come meanwhile is later.
      this.#gathered = new Map([...uses, ...this.#gathered]);
      this.#options.onFailure(error);
    }
  }
}
