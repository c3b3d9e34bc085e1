/**
 * Group commit. Items that arrive while a batch is being settled wait for the next one; there is no
 * timer, so an item that arrives alone is settled at the end of the very turn in which it came.
 */
export interface BatcherOptions<Item, Outcome> {
  /**
   * Settles a batch in one transaction: an outcome for each item, in order. Where it rejects for any other
   * reason than that the database is away, it must have recorded nothing.
   */
  readonly settle: (batch: readonly Item[]) => Promise<Outcome[]>;
  /** Whether the error says that the database is away, so that trying the items one by one is of no use. */
  readonly isAway: (error: unknown) => boolean;
  readonly maxBatch: number;
  /** Items beyond this many waiting are turned away at once. */
  readonly maxWaiting: number;
  readonly overloaded: () => Error;
}

interface Waiting<Item, Outcome> {
  readonly item: Item;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

export class Batcher<Item, Outcome> {
  readonly #options: BatcherOptions<Item, Outcome>;
  #waiting: Waiting<Item, Outcome>[] = [];
  #running: Promise<void> | undefined;

  constructor(options: BatcherOptions<Item, Outcome>) {
    this.#options = options;
  }

  add(item: Item): Promise<Outcome> {
    if (this.#waiting.length >= this.#options.maxWaiting) return Promise.reject(this.#options.overloaded());
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /** Resolves once nothing is waiting or being settled. */
  async drained(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      // By the end of the turn, all requests that the sockets had ready are waiting too.
      await new Promise((resolve) => setImmediate(resolve));
      const batch = this.#waiting.splice(0, this.#options.maxBatch);
      await this.#settle(batch);
    }
    this.#running = undefined;
  }

  async #settle(batch: readonly Waiting<Item, Outcome>[]): Promise<void> {
    try {
      const outcomes = await this.#options.settle(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(outcomes[index] as Outcome);
    } catch (error) {
      if (this.#options.isAway(error)) {
        // Those that wait would only wait as long again, each batch for itself.
        for (const { reject } of [...batch, ...this.#waiting.splice(0)]) reject(error);
        return;
      }
      if (batch.length === 1) {
        for (const { reject } of batch) reject(error);
        return;
      }
      // One item may have spoilt the batch: alone, it fails alone.
      for (const waiting of batch) await this.#settle([waiting]);
    }
  }
}
