import { once } from "node:events";
import type { Worker } from "node:worker_threads";
import { StoreUnavailable } from "../errors.ts";
import type { Settled, SettlingItem } from "./settling.ts";
import { type FromThread, type SettlingThreadData, type ToThread, unpackError } from "./settling-messages.ts";

/** Begins a thread that serves what settling-service.ts does. */
export type StartSettlingThread = (data: SettlingThreadData) => Worker;

interface Asked {
  readonly resolve: (settled: Settled[]) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Has batches settled by a thread with a connection of its own, so that requests are read and answered while the disk
 * takes a commit. A thread that ends before its time leaves it unknown what became of its batch, as a database does
 * that cannot be reached; the next batch begins another.
 */
export class SettlingThread {
  readonly #start: () => Worker;
  #worker: Worker | undefined;
  #asked: Asked[] = [];
  #isClosed = false;

  constructor(start: () => Worker) {
    this.#start = start;
    this.#begin();
  }

  settle(batch: readonly SettlingItem[]): Promise<Settled[]> {
    if (this.#isClosed) return Promise.reject(new StoreUnavailable("the store is closed"));
    const worker = this.#worker ?? this.#begin();
    return new Promise((resolve, reject) => {
      this.#asked.push({ resolve, reject });
      worker.postMessage({ settle: batch } satisfies ToThread);
    });
  }

  /** Lets the thread do what nobody waits for. To be called once whoever was answered reads what is new. */
  rest(): void {
    this.#worker?.postMessage("rest" satisfies ToThread);
  }

  /** Resolves once the thread's connection is closed. To be called when nothing is being settled. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const worker = this.#worker;
    if (worker === undefined) return;
    const exited = once(worker, "exit");
    worker.postMessage("close" satisfies ToThread);
    await exited;
  }

  #begin(): Worker {
    const worker = this.#start();
    this.#worker = worker;
    worker.on("message", (message: FromThread) => {
      const asked = this.#asked.shift();
      if ("settled" in message) asked?.resolve([...message.settled]);
      else asked?.reject(unpackError(message.failed));
    });
    worker.on("error", (cause) => this.#end(worker, cause));
    worker.on("exit", () => this.#end(worker));
    return worker;
  }

  #end(worker: Worker, cause?: unknown): void {
    if (worker !== this.#worker) return;
    this.#worker = undefined;
    const asked = this.#asked;
    this.#asked = [];
    for (const { reject } of asked)
      reject(new StoreUnavailable("the thread that settles top-ups has ended", { cause }));
  }
}
