import { StoreContended, StoreUnavailable } from "./errors.ts";
import type { ObserveBatch } from "./store.ts";

/** The error for requests beyond {@link MAX_WAITING}. */
export function overloaded(): StoreContended {
  return new StoreContended("too many top-ups are waiting");
}

/** At least half a second of work on a slow machine. Beyond that, a clear refusal is better than a long wait. */
export const MAX_WAITING = 1_000;

/** Large enough that many items share a commit; small enough that locks are held briefly and the event loop can turn. */
const MAX_BATCH = 256;

export interface BatcherOptions<Item, Outcome> {
  /**
   * Settles a batch in one transaction: an outcome for each item, in order. If it rejects although the database is
   * available, it must have recorded nothing.
   */
  readonly settle: (batch: readonly Item[]) => Promise<Outcome[]>;
  readonly observe?: ObserveBatch | undefined;
  /** Given if the store can settle several batches at a time. */
  readonly concurrency?: BatchConcurrency<Item>;
  readonly maxBatch?: number;
  /** Items beyond this many waiting are refused at once. */
  readonly maxWaiting?: number;
}

export interface BatchConcurrency<Item> {
  readonly maxBatches: number;
  /** Items that must wait before another batch starts: with fewer, sharing the next commit is cheaper. */
  readonly worthwhile: number;
  /** The rows that an item writes to. Items of the same lane are settled one after the other, in order of arrival. */
  readonly lane: (item: Item) => unknown;
}

/** Maximum milliseconds of trying the items of a failed batch one by one while rows stay locked. */
const ONE_BY_ONE_MS = 3_000;

interface Waiting<Item, Outcome> {
  readonly item: Item;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Group commit. Items that arrive while a batch is being settled wait for the next one. There is no timer: an item that
 * arrives alone is settled at the end of the same turn of the event loop.
 */
export class Batcher<Item, Outcome> {
  readonly #settleBatch: BatcherOptions<Item, Outcome>["settle"];
  readonly #observe: ObserveBatch | undefined;
  readonly #concurrency: BatchConcurrency<Item>;
  readonly #maxBatch: number;
  readonly #maxWaiting: number;
  #waiting: Waiting<Item, Outcome>[] = [];
  readonly #running = new Set<Promise<void>>();
  readonly #busyLanes = new Set<unknown>();
  #isStarting = false;

  constructor(options: BatcherOptions<Item, Outcome>) {
    this.#settleBatch = options.settle;
    this.#observe = options.observe;
    this.#concurrency = options.concurrency ?? { maxBatches: 1, worthwhile: 1, lane: () => "only" };
    this.#maxBatch = options.maxBatch ?? MAX_BATCH;
    this.#maxWaiting = options.maxWaiting ?? MAX_WAITING;
  }

  add(item: Item): Promise<Outcome> {
    if (this.isFull) return Promise.reject(overloaded());
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#startSoon();
    });
  }

  get isFull(): boolean {
    return this.#waiting.length >= this.#maxWaiting;
  }

  /** Resolves once nothing is waiting or being settled. */
  async drained(): Promise<void> {
    while (this.#isStarting || this.#running.size > 0) {
      if (this.#isStarting) await new Promise((resolve) => setImmediate(resolve));
      await Promise.all(this.#running);
    }
  }

  #startSoon(): void {
    if (this.#isStarting || !this.#mayStart()) return;
    this.#isStarting = true;
    // At the end of the turn, all requests that the sockets had ready are waiting too.
    setImmediate(() => {
      this.#isStarting = false;
      while (this.#mayStart()) if (!this.#start()) return;
    });
  }

  #mayStart(): boolean {
    const { maxBatches, worthwhile } = this.#concurrency;
    if (this.#waiting.length === 0 || this.#running.size >= maxBatches) return false;
    return this.#running.size === 0 || this.#waiting.length >= worthwhile;
  }

  /** @returns whether a batch could be started. */
  #start(): boolean {
    const batch = this.#takeBatch();
    if (batch.length === 0) return false;
    const lanes = batch.map(({ item }) => this.#concurrency.lane(item));
    for (const lane of lanes) this.#busyLanes.add(lane);
    const running = this.#settle(batch).finally(() => {
      this.#running.delete(running);
      for (const lane of lanes) this.#busyLanes.delete(lane);
      this.#startSoon();
    });
    this.#running.add(running);
    return true;
  }

  /** Takes the first waiting items whose lane is free. */
  #takeBatch(): Waiting<Item, Outcome>[] {
    if (this.#busyLanes.size === 0) return this.#waiting.splice(0, this.#maxBatch);
    const batch: Waiting<Item, Outcome>[] = [];
    const others: Waiting<Item, Outcome>[] = [];
    for (const waiting of this.#waiting) {
      const isFree = batch.length < this.#maxBatch && !this.#busyLanes.has(this.#concurrency.lane(waiting.item));
      (isFree ? batch : others).push(waiting);
    }
    this.#waiting = others;
    return batch;
  }

  async #settle(batch: readonly Waiting<Item, Outcome>[]): Promise<void> {
    const failure = await this.#attempt(batch);
    if (failure === undefined) return;
    if (isUnavailable(failure.error)) this.#rejectAll(batch, failure);
    else if (batch.length === 1) reject(batch, failure);
    else await this.#settleOneByOne(batch);
  }

  /** One item may have failed the whole batch; tried alone, only that item fails. */
  async #settleOneByOne(batch: readonly Waiting<Item, Outcome>[]): Promise<void> {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
    }, ONE_BY_ONE_MS);
    for (const [index, waiting] of batch.entries()) {
      const failure = await this.#attempt([waiting]);
      if (failure === undefined) continue;
      if (isUnavailable(failure.error) || (isLate && failure.error instanceof StoreContended)) {
        this.#rejectAll(batch.slice(index), failure);
        break;
      }
      reject([waiting], failure);
    }
    clearTimeout(timer);
  }

  async #attempt(batch: readonly Waiting<Item, Outcome>[]): Promise<Failure | undefined> {
    const ended = ignoringErrors(() => this.#observe?.(batch.length));
    try {
      const outcomes = await this.#settleBatch(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(outcomes[index] as Outcome);
    } catch (error) {
      ignoringErrors(() => ended?.(false));
      return { error };
    }
    ignoringErrors(() => ended?.(true));
    return undefined;
  }

  /** Rejects the waiting items too: each of their batches would only wait as long again. */
  #rejectAll(batch: readonly Waiting<Item, Outcome>[], failure: Failure): void {
    reject([...batch, ...this.#waiting.splice(0)], failure);
  }
}

interface Failure {
  readonly error: unknown;
}

/** Whether trying the items one by one is useless. Locked rows concern one item and not the others of its batch. */
function isUnavailable(error: unknown): boolean {
  return error instanceof StoreUnavailable && !(error instanceof StoreContended);
}

/** An observer that throws must not fail a batch or end the process. */
function ignoringErrors<Value>(observe: () => Value): Value | undefined {
  try {
    return observe();
  } catch {
    return undefined;
  }
}

function reject(waiting: readonly Pick<Waiting<unknown, unknown>, "reject">[], { error }: Failure): void {
  for (const each of waiting) each.reject(error);
}
