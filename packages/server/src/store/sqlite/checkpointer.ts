import { Worker } from "node:worker_threads";

/** Long enough for pages that many commits change to be put into the file once, short enough for the log to stay small. */
const PAUSE_MS = 250;

const MEMORY = { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 16 } as const;

/**
 * Puts the log into the database's file aside, in a thread of its own. Done where SQLite does it by default, at the
 * end of a commit, it would keep every top-up waiting for some thousand pages on their way to the disk.
 */
export class Checkpointer {
  readonly #path: string;
  #thread: Worker | undefined;
  #isUnderWay = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** To be called after each commit. */
  committed(): void {
    if (this.#isUnderWay) return;
    this.#isUnderWay = true;
    this.#timer = setTimeout(() => this.#begin(), PAUSE_MS).unref();
  }

  /** Resolves once the thread has let go of the file. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    const thread = this.#thread;
    this.#thread = undefined;
    if (thread === undefined) return;
    const exited = new Promise<unknown>((resolve) => thread.once("exit", resolve));
    // From now on the process is to wait for it.
    thread.ref();
    thread.postMessage("close");
    await exited;
  }

  #begin(): void {
    this.#thread ??= this.#start();
    this.#thread.postMessage("checkpoint");
  }

  #start(): Worker {
    const thread = new Worker(new URL("./checkpoint-thread.js", import.meta.url), {
      workerData: { path: this.#path },
      resourceLimits: MEMORY,
    });
    const over = () => {
      this.#isUnderWay = false;
    };
    thread.on("message", over);
    // Without it, SQLite puts the log into the file by itself, though later. With the next commit, another one starts.
    thread.on("error", () => {
      this.#thread = undefined;
      over();
    });
    thread.unref();
    return thread;
  }
}
