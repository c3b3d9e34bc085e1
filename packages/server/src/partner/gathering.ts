import type { Instant } from "../domain/wall-time.ts";
import type { RefusedCall, Store } from "../store/store.ts";

type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

interface GatheringOptions<Name extends keyof Store> {
  readonly store: Pick<Store, Name>;
  /** Called if the store could not write. */
  readonly onFailure: (error: unknown) => void;
}

/** Collects facts about requests and writes them periodically. No request waits for this or fails because of it. */
abstract class Gathering<Name extends keyof Store> {
  protected readonly store: Pick<Store, Name>;
  protected abstract readonly everyMs: number;
  readonly #onFailure: (error: unknown) => void;
  readonly #closing = new AbortController();
  #writing: Promise<void> | undefined;

  constructor({ store, onFailure }: GatheringOptions<Name>) {
    this.store = store;
    this.#onFailure = onFailure;
  }

  protected abstract write(): Promise<void>;

  /** @param sleep resolves early if the signal aborts. */
  keepWriting(sleep: Sleep): void {
    this.#writing = this.#writeUntilClosed(sleep);
  }

  /** Writes the rest, including facts that arrived during a write. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#writing;
    await this.write().catch(this.#onFailure);
  }

  async #writeUntilClosed(sleep: Sleep): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await sleep(this.everyMs, signal);
      if (!signal.aborted) await this.write().catch(this.#onFailure);
    }
  }
}

/** Further refused calls between two writes are dropped, to limit memory. */
export const MOST_GATHERED = 10_000;

/** Collects refused calls. They are dropped if the store cannot write them. */
export class RefusedCallNotes extends Gathering<"recordRefusedCalls"> {
  protected override readonly everyMs = 1_000;
  #gathered: RefusedCall[] = [];

  note(refusedCall: RefusedCall): void {
    if (this.#gathered.length < MOST_GATHERED) this.#gathered.push(refusedCall);
  }

  protected override async write(): Promise<void> {
    const refusedCalls = this.#gathered;
    this.#gathered = [];
    if (refusedCalls.length > 0) await this.store.recordRefusedCalls(refusedCalls);
  }
}

/** Collects the last use of each token. A killed process loses what it collected. */
export class TokenUses extends Gathering<"recordTokenUses"> {
  protected override readonly everyMs = 30_000;
  #gathered = new Map<string, Instant>();

  note(tokenId: string, at: Instant): void {
    this.#gathered.set(tokenId, at);
  }

  protected override async write(): Promise<void> {
    const uses = this.#gathered;
    this.#gathered = new Map();
    if (uses.size === 0) return;
    try {
      await this.store.recordTokenUses(uses);
    } catch (error) {
      // Uses noted during the write are later, so they win.
      this.#gathered = new Map([...uses, ...this.#gathered]);
      throw error;
    }
  }
}
