import {
  type CountedLookUp,
  hashLookUp,
  LOOK_UP_WINDOW_MS,
  type LookUpCount,
  LookUpLog,
} from "../domain/partner-limits.ts";
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

/** Longer than the clocks of services differ and a transaction takes: counts of that time are read again. */
const READ_AGAIN_MS = 120_000;

interface SharingOptions {
  readonly store: Pick<Store, "checkoutSecrets" | "shareLookUps">;
  readonly clock: () => Instant;
  readonly onFailure: (error: unknown) => void;
}

/** Counts look-ups of strangers with all services on the database: in memory, so it goes on if the store is unavailable. */
export class SharedLookUps extends Gathering<Store["shareLookUps"]> {
  protected override readonly everyMs = 1_000;
  readonly #log = new LookUpLog();
  readonly #options: SharingOptions;
  /** The oldest secret: a rotation hardly ever replaces it. */
  #key: Uint8Array = new Uint8Array();
  #readUntil = Number.NEGATIVE_INFINITY;
  #isFailing = false;

  private constructor(options: SharingOptions) {
    super({ record: (...of) => options.store.shareLookUps(...of), onFailure: options.onFailure });
    this.#options = options;
  }

  /** Reads all counts of the last hour. @throws StoreUnavailable */
  static async begin(options: SharingOptions): Promise<SharedLookUps> {
    const lookUps = new SharedLookUps(options);
    await lookUps.write();
    return lookUps;
  }

  /** @returns 0 if the look-up may be answered, otherwise the milliseconds to wait. */
  count(lookUp: CountedLookUp): number {
    return this.#log.count(lookUp, hashLookUp(lookUp, this.#key), this.#options.clock());
  }

  /** Writes new counts, and reads those of other services. Only the first of several failures is reported. */
  override async write(): Promise<void> {
    try {
      await this.#share();
      this.#isFailing = false;
    } catch (error) {
      if (this.#isFailing) return;
      this.#isFailing = true;
      throw error;
    }
  }

  async #share(): Promise<void> {
    const { store, clock } = this.#options;
    const [now, { unshared }] = [clock(), this.#log];
    this.#key = (await store.checkoutSecrets()).at(-1)?.key ?? this.#key;
    // Counts that waited for the store longer than they last.
    const isOver = (count: LookUpCount | undefined) => count !== undefined && count.at <= now - LOOK_UP_WINDOW_MS;
    while (isOver(unshared[0])) unshared.shift();
    const written = [...unshared];
    this.#log.add(await this.record(written, now, this.#readUntil - READ_AGAIN_MS), now);
    unshared.splice(0, written.length);
    this.#readUntil = now;
  }
}
