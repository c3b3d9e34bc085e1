import type { Instant } from "../domain/wall-time.ts";
import { StoreUnavailable } from "../store/errors.ts";
import type { HeldLease, Outbox } from "../store/outbox.ts";

/* What workers have in common: each does its work in one process at a time, by a lease in the database. */

export interface WorkerPorts {
  readonly clock: () => Instant;
  /** Resolves early where the signal says so. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Of this process, and of no other. */
  readonly holder: string;
  readonly log: (level: "info" | "warn", fields: Readonly<Record<string, unknown>>, message: string) => void;
}

/** Finishes what is in hand, and leaves the work to other processes. */
export interface Worker {
  readonly stop: () => Promise<void>;
}

/** How long it takes after a kill until another process goes on. */
const LEASE_MS = 20_000;
const RENEWED_AFTER_MS = 3_000;

/** A lease in the database, as whoever wants it knows it. */
export class Lease implements HeldLease {
  readonly lease: string;
  readonly holder: string;
  readonly #outbox: Pick<Outbox, "hold" | "release">;
  readonly #clock: () => Instant;
  #until: Instant = 0;

  constructor(
    outbox: Pick<Outbox, "hold" | "release">,
    { clock, holder }: Pick<WorkerPorts, "clock" | "holder">,
    lease: string,
  ) {
    this.lease = lease;
    this.holder = holder;
    this.#outbox = outbox;
    this.#clock = clock;
  }

  get leftMs(): number {
    return this.#until - this.#clock();
  }

  /** @returns whether it is this holder's now. */
  async take(): Promise<boolean> {
    const now = this.#clock();
    const isHeld = await this.#outbox.hold(this.lease, this.holder, now, now + LEASE_MS);
    this.#until = isHeld ? now + LEASE_MS : 0;
    return this.leftMs > 0;
  }

  /** Where it is time to. @returns false where it was lost: once it has run out, another process may have had it. */
  async renew(): Promise<boolean> {
    if (this.leftMs > LEASE_MS - RENEWED_AFTER_MS) return true;
    return this.leftMs > 0 && this.take();
  }

  /** Others need not wait until it runs out. */
  async release(): Promise<void> {
    if (this.#until === 0) return;
    this.#until = 0;
    await this.#outbox.release(this.lease, this.holder);
  }
}

const TOLD_AGAIN_AFTER_MS = 60_000;

/** Logs a failure that repeats once a minute. */
export function failureLog({ clock, log }: Pick<WorkerPorts, "clock" | "log">) {
  const told = new Map<string, Instant>();
  return (error: unknown, fields: Readonly<Record<string, unknown>>, message: string) => {
    const key = JSON.stringify([message, fields, String(error)]);
    const now = clock();
    for (const [each, at] of told) if (now - at >= TOLD_AGAIN_AFTER_MS) told.delete(each);
    if (told.has(key)) return;
    told.set(key, now);
    // Of other errors, the message may say what is stored.
    const reason = error instanceof StoreUnavailable ? { cause: error.message } : { err: error };
    log("warn", { ...fields, ...reason }, message);
  };
}
