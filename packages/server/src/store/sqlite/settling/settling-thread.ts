import type { Worker } from "node:worker_threads";
import { StoreUnavailable } from "../../errors.ts";
import type { Settled, SettlingItem } from "../../settling.ts";
import type { ObserveCheckpoints, ProviderSettings } from "../../store.ts";
import {
  type FromThread,
  packItem,
  type SettlingThreadData,
  type ToThread,
  threadData,
  unpackError,
  unpackOutcome,
} from "./settling-messages.ts";

/** Begins a thread that serves what settling-service.ts does. */
export type StartSettlingThread = (data: SettlingThreadData) => Worker;

export interface SettlingThreadParts {
  readonly start: StartSettlingThread;
  readonly path: string;
  readonly provider: ProviderSettings;
  readonly observeCheckpoints: ObserveCheckpoints | undefined;
}

interface Asked {
  readonly batch: readonly SettlingItem[];
  readonly resolve: (settled: Settled[]) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Has batches settled by a thread with a connection of its own, so that requests are read and answered while the disk
 * takes a commit. A thread that ends before its time leaves it unknown what became of its batch, as a database does
 * that cannot be reached; whatever is asked next begins another.
 */
export class SettlingThread {
  readonly #parts: SettlingThreadParts;
  #worker: Worker | undefined;
  readonly #asked = new Map<number, Asked>();
  #lastId = 0;
  #isClosed = false;

  constructor(parts: SettlingThreadParts) {
    this.#parts = parts;
    this.#begin();
  }

  /** @throws StoreUnavailable also where there is no thread, and none can be begun. */
  async settle(batch: readonly SettlingItem[]): Promise<Settled[]> {
    if (this.#isClosed) throw new StoreUnavailable("the store is closed");
    const worker = this.#worker ?? this.#begin();
    if (worker === undefined) throw new StoreUnavailable("no thread that settles top-ups can be begun");
    return new Promise((resolve, reject) => {
      this.#lastId += 1;
      worker.postMessage({ id: this.#lastId, batch: batch.map(packItem) } satisfies ToThread);
      this.#asked.set(this.#lastId, { batch, resolve, reject });
    });
  }

  /** Resolves once the thread's connection is closed; no other is begun. To be called when nothing is being settled. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const worker = this.#worker;
    if (worker === undefined) return;
    const exited = new Promise((resolve) => worker.once("exit", resolve));
    worker.postMessage("close" satisfies ToThread);
    await exited;
  }

  #begin(): Worker | undefined {
    const { start, path, provider } = this.#parts;
    let worker: Worker;
    try {
      worker = start(threadData(path, provider));
    } catch {
      return undefined;
    }
    this.#worker = worker;
    worker.on("message", (message: FromThread) => this.#hear(worker, message));
    worker.on("messageerror", (error) => {
      // It was an answer, which will not come again. To terminate a thread that is inside of SQLite would end the process.
      this.#end(worker, error);
      worker.postMessage("close" satisfies ToThread);
    });
    worker.on("error", (error) => this.#end(worker, error));
    worker.on("exit", () => this.#end(worker));
    return worker;
  }

  #hear(worker: Worker, message: FromThread): void {
    if (worker !== this.#worker) return;
    if ("trouble" in message) {
      this.#parts.observeCheckpoints?.(message.trouble);
      return;
    }
    const asked = this.#asked.get(message.id);
    this.#asked.delete(message.id);
    if (asked === undefined) return;
    if ("failed" in message) {
      asked.reject(unpackError(message));
      return;
    }
    const { zone } = this.#parts.provider;
    try {
      asked.resolve(message.settled.map((packed, index) => unpackOutcome(packed, asked.batch[index], zone)));
    } catch (cause) {
      // It has settled the batch, in whatever way: that must not be taken for a batch that recorded nothing.
      asked.reject(new StoreUnavailable("what the thread that settles top-ups has answered cannot be read", { cause }));
    }
  }

  #end(worker: Worker, cause?: Error & { readonly code?: unknown }): void {
    if (worker !== this.#worker) return;
    this.#worker = undefined;
    const asked = [...this.#asked.values()];
    this.#asked.clear();
    const why = cause === undefined ? "" : `: ${typeof cause.code === "string" ? cause.code : cause.name}`;
    for (const { reject } of asked)
      reject(new StoreUnavailable(`the thread that settles top-ups has ended${why}`, { cause }));
  }
}
