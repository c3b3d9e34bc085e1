import type { Instant } from "../domain/wall-time.ts";
import type { Store } from "../store/store.ts";

type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

interface GatheringOptions<Recording> {
  readonly record: Recording;
  /** Called if the store could not write. */
  readonly onFailure: (error: unknown) => void;
}

/** Collects facts about requests and writes them periodically. No request waits for this or fails because of it. */
abstract class Gathering<Recording> {
  protected readonly record: Recording;
  protected abstract readonly everyMs: number;
  readonly #onFailure: (error: unknown) => void;
  readonly #closing = new AbortController();
  #writing: Promise<void> | undefined;

  constructor({ record, onFailure }: GatheringOptions<Recording>) {
    this.record = record;
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

/** Further calls between two writes are dropped, to limit memory. */
export const MOST_GATHERED = 10_000;

/** Collects calls. They are dropped if the store cannot write them. */
export class CallNotes<Noted> extends Gathering<(calls: readonly Noted[]) => Promise<void>> {
  protected override readonly everyMs = 1_000;
  #gathered: Noted[] = [];

  note(call: Noted): void {
    if (this.#gathered.length < MOST_GATHERED) this.#gathered.push(call);
  }

  protected override async write(): Promise<void> {
    const calls = this.#gathered;
    this.#gathered = [];
    if (calls.length > 0) await this.record(calls);
  }
}

/** Collects the last use of each token. A killed process loses what it collected. */
export class TokenUses extends Gathering<Store["recordTokenUses"]> {
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
      await this.record(uses);
    } catch (error) {
      // Uses noted during the write are later, so they win.
      this.#gathered = new Map([...uses, ...this.#gathered]);
      throw error;
    }
  }
}
