import type { Instant } from "../domain/wall-time.ts";
import { StoreUnavailable } from "../store/errors.ts";
import type { HeldLease, Outbox } from "../store/outbox.ts";

/* Shared by all workers. Each worker runs in one process at a time, by a lease in the database. */

export interface WorkerPorts {
  readonly clock: () => Instant;
  /** Milliseconds on a monotonic clock, for times inside this process: the wall clock may be set. */
  readonly stopwatch: () => number;
  /** Resolves early if the signal aborts. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Unique name of this process. */
  readonly holder: string;
  readonly log: (level: "info" | "warn", fields: Readonly<Record<string, unknown>>, message: string) => void;
}

/** `stop` finishes the current work; other processes continue. */
export interface Worker {
  readonly stop: () => Promise<void>;
}

/** Time after a kill until another process continues. */
const LEASE_MS = 20_000;
const RENEWED_AFTER_MS = 3_000;

/** This process's view of a lease in the database. */
export class Lease implements HeldLease {
  readonly lease: string;
  readonly holder: string;
  readonly #outbox: Pick<Outbox, "hold" | "release">;
  readonly #clock: () => Instant;
  readonly #stopwatch: () => number;
  /** The end by the stopwatch; 0 if the lease is not held. */
  #until = 0;
  #taking: Promise<boolean> | undefined;
  #wasHeld = false;

  constructor(
    outbox: Pick<Outbox, "hold" | "release">,
    { clock, stopwatch, holder }: Pick<WorkerPorts, "clock" | "stopwatch" | "holder">,
    lease: string,
  ) {
    this.lease = lease;
    this.holder = holder;
    this.#outbox = outbox;
    this.#clock = clock;
    this.#stopwatch = stopwatch;
  }

  get leftMs(): number {
    return this.#until - this.#stopwatch();
  }

  /** Whether this process had the lease. Another may have had it since. */
  get isLost(): boolean {
    return this.#wasHeld && this.leftMs <= 0;
  }

  /** @returns whether this process holds the lease now. Several who share the lease ask the database once. */
  take(): Promise<boolean> {
    this.#taking ??= this.#take().finally(() => {
      this.#taking = undefined;
    });
    return this.#taking;
  }

  async #take(): Promise<boolean> {
    const until = this.#stopwatch() + LEASE_MS;
    const now = this.#clock();
    const isHeld = await this.#outbox.hold(this.lease, this.holder, now, now + LEASE_MS);
    this.#until = isHeld ? until : 0;
    this.#wasHeld ||= isHeld;
    return this.leftMs > 0;
  }

  /** Renews the lease if it is due. @returns false if the lease was lost: another process may have held it. */
  async renew(): Promise<boolean> {
    if (this.leftMs > LEASE_MS - RENEWED_AFTER_MS) return true;
    return this.leftMs > 0 && this.take();
  }

  /** Saves other processes the wait until the lease expires. */
  async release(): Promise<void> {
    if (this.#until === 0) return;
    this.#until = 0;
    await this.#outbox.release(this.lease, this.holder);
  }
}

const LOGGED_AGAIN_AFTER_MS = 60_000;

/** Logs a repeated failure once a minute. */
export function failureLog({ stopwatch, log }: Pick<WorkerPorts, "stopwatch" | "log">) {
  const logged = new Map<string, number>();
  return (error: unknown, fields: Readonly<Record<string, unknown>>, message: string) => {
    const key = JSON.stringify([message, fields, String(error)]);
    const now = stopwatch();
    for (const [each, at] of logged) if (now - at >= LOGGED_AGAIN_AFTER_MS) logged.delete(each);
    if (logged.has(key)) return;
    logged.set(key, now);
    // The message of any other error may quote stored data.
    const reason = error instanceof StoreUnavailable ? { cause: error.message } : { err: error };
    log("warn", { ...fields, ...reason }, message);
  };
}

/**
 * Repeats work in every process, until it is stopped.
 * @param of.failure logged if the work fails. @param of.lease what the work takes; it is released at the end.
 */
export function startRepeating(
  ports: WorkerPorts,
  {
    everyMs,
    work,
    failure,
    lease,
  }: {
    readonly everyMs: number;
    readonly work: (stopping: AbortSignal) => Promise<void>;
    readonly failure: string;
    readonly lease?: Lease;
  },
): Worker {
  const logFailure = failureLog(ports);
  const stopping = new AbortController();
  const run = async () => {
    while (!stopping.signal.aborted) {
      await work(stopping.signal).catch((error: unknown) => logFailure(error, {}, failure));
      await ports.sleep(everyMs, stopping.signal);
    }
    await lease?.release().catch((error: unknown) => logFailure(error, {}, failure));
  };
  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
