import { isFact } from "../domain/subject.ts";
import {
  DeliveryFailed,
  failuresAfter,
  type LoggedAttempt,
  nextAttempt,
  type OpenExchange,
  SENDING_LIMIT_MS,
  SET_ASIDE_AFTER,
  type Target,
} from "../domain/target.ts";
import type { Instant } from "../domain/wall-time.ts";
import type { AcceptedAttempt, Attempt, BegunDue, DueStore, EndedAttempt, FailedAttempt } from "../store/due.ts";
import type { HeldLease } from "../store/outbox.ts";
import type { WorkerPorts } from "./worker.ts";

export interface DueDeliveryPorts extends Pick<WorkerPorts, "clock" | "sleep" | "log"> {
  /** Milliseconds since any moment, whatever is done to the clock. */
  readonly stopwatch: () => number;
  /** A number from 0 to 1. */
  readonly random: () => number;
  readonly store: Pick<DueStore, "begin" | "recordAttempts" | "retryAll">;
  /**
   * Reads the present state of some subjects, to be sent as the versions `due.sent`.
   * @param number grows with each portion, and is about the time: what is read later has a greater one.
   */
  readonly prepare: (begun: readonly BegunDue[], number: number) => Promise<readonly Prepared[]>;
  /** Called when there is more to do than waits for the next look. */
  readonly wake?: (() => void) | undefined;
  /** Called at the end of each attempt. It must be quick and must not throw. */
  readonly attemptEnded?: ((attempt: EndedAttempt) => void) | undefined;
}

/** A subject whose state was read. */
export interface Prepared {
  readonly due: BegunDue;
  /**
   * Sends the state; undefined if there is nothing to say any more.
   * @param exchange is filled in as it becomes known, also if the attempt fails.
   * @throws DeliveryFailed, with a reason for staff that contains no secret and no stored data.
   */
  readonly send: ((signal: AbortSignal, exchange: OpenExchange) => Promise<Sent>) | undefined;
}

/** The answer of a target. */
export type Sent = Pick<AcceptedAttempt, "waits" | "rights">;

/** Most open attempts. A subject has at most one. */
const MOST_UNDER_WAY = 32;
/** Most attempts that begin or end in one transaction, and how long they may take together. */
const PORTION = 300;
const PORTION_MS = 1_000;
/** So many failures in a row, and nothing else: the target is unavailable, and only the longest due is tried. */
const UNAVAILABLE_AFTER = 32;
/** Pause between attempts at an unavailable target; the shorter one if the target answers with errors. */
const PROBED_EVERY_MS = 30_000;
const ANSWERING_PROBED_EVERY_MS = 1_000;
/** A sender that keeps its own limit ends its attempts before this one. */
const GIVEN_UP_AFTER_MS = SENDING_LIMIT_MS + 250;
/** An attempt starts only if the lease lasts longer than the attempt can. */
const LEAST_LEASE_MS = SENDING_LIMIT_MS + 500;
/** Time for open attempts at a stop. The next holder repeats the unfinished ones. */
const ENDING_MS = 5_000;

/**
 * Sends one target what it lacks, while this process holds the target's lease. Versions are written before anything is sent,
 * and attempts that a kill leaves unrecorded are repeated.
 */
export class DueDelivery {
  readonly #target: Pick<Target, "id" | "name" | "billing">;
  readonly #lease: HeldLease & { readonly leftMs: number };
  readonly #ports: DueDeliveryPorts;
  /** Subjects with a version that is not recorded: they are queued, under way or ended. */
  readonly #busy = new Set<string>();
  #queue: Prepared[] = [];
  readonly #underWay = new Map<Promise<void>, AbortController>();
  #ended: EndedAttempt[] = [];
  /** Attempts of this process at the target, to tell those of the same time apart. */
  #attempts = 0;
  /** The number of the last portion. */
  #number = 0;
  /** So many attempts begin together: about what the target takes in a second. */
  #portion = MOST_UNDER_WAY;
  /** Whether more was due than began. */
  #hasMore = false;
  #failedInARow = 0;
  /** Whether the target takes events again, and what failed meanwhile is not due yet. */
  #isBack = false;
  /** Whether the target wants nothing more, and this is not recorded yet. */
  #isGone = false;
  #isLost = false;
  #isStopping = false;
  /** Whether the results of attempts are ignored. */
  #isOver = false;
  #looking: Promise<void> | undefined;
  /* Times of the stopwatch. */
  #tookAt = Number.NEGATIVE_INFINITY;
  #recordedAt = Number.NEGATIVE_INFINITY;
  #begunAt = Number.NEGATIVE_INFINITY;
  #probeAt = Number.NEGATIVE_INFINITY;
  #heldUntil = Number.NEGATIVE_INFINITY;

  constructor(
    target: Pick<Target, "id" | "name" | "billing">,
    lease: HeldLease & { readonly leftMs: number },
    ports: DueDeliveryPorts,
  ) {
    this.#target = target;
    this.#lease = lease;
    this.#ports = ports;
  }

  /** Whether another process may deliver to the target: then this one must not go on. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Whether there is nothing under way, and nothing left to record. */
  get isIdle(): boolean {
    return this.#busy.size === 0 && !this.#isGone && !this.#isBack;
  }

  get isUnavailable(): boolean {
    return this.#failedInARow >= UNAVAILABLE_AFTER;
  }

  /**
   * Records what ended, and begins what is due. Must be called a few times a second while the target is not idle, or has
   * something due. @throws StoreUnavailable; the state in memory stays valid.
   */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #look(): Promise<void> {
    if (this.#isLost || this.#isStopping) return;
    if (this.#isRecordDue()) await this.#record();
    if (this.#isBack) await this.#retryAll();
    this.#dropSlowQueue();
    if (this.#mayBegin()) await this.#begin();
    this.#sendQueued();
  }

  /** Waits for the open attempts, for some seconds, and records them. Begins nothing more. */
  async finish(): Promise<void> {
    this.#isStopping = true;
    this.#dropQueue();
    const ended = new AbortController();
    const late = this.#ports.sleep(ENDING_MS, ended.signal);
    if (!this.#isLost) await Promise.race([Promise.all(this.#underWay.keys()), late]);
    ended.abort();
    this.#isOver = true;
    for (const interrupt of this.#underWay.values()) interrupt.abort();
    await this.#looking?.catch(() => {});
    while (!this.#isLost && (this.#ended.length > 0 || this.#isGone)) await this.#record();
  }

  #isRecordDue(): boolean {
    if (this.#ended.length === 0) return this.#isGone;
    const isLong = this.#ports.stopwatch() - this.#recordedAt >= PORTION_MS;
    // Before the next portion begins, what ended of this one is recorded.
    const isNext = this.#hasMore && this.#queue.length === 0;
    return isLong || isNext || this.#isGone || this.#ended.length >= PORTION;
  }

  async #record(): Promise<void> {
    this.#recordedAt = this.#ports.stopwatch();
    const ended = this.#ended.slice(0, PORTION);
    const isGone = this.#isGone;
    const isHeld = await this.#ports.store.recordAttempts({ targetId: this.#target.id, ended, isGone }, this.#lease);
    if (!isHeld) {
      this.#lose();
      return;
    }
    // Staff may resume the target from now on.
    if (isGone) this.#isGone = false;
    this.#ended = this.#ended.slice(ended.length);
    for (const { due } of ended) this.#busy.delete(due.subject);
  }

  #lose(): void {
    this.#isLost = true;
    this.#dropQueue();
    this.#ports.log("warn", { target: this.#target.name }, "another process may deliver to the target");
  }

  async #retryAll(): Promise<void> {
    await this.#ports.store.retryAll(this.#target.id, this.#ports.clock(), this.#lease);
    this.#isBack = false;
  }

  /** The rest of a portion that a slow target does not take in a second begins again later: other news may be longer due. */
  #dropSlowQueue(): void {
    if (this.#queue.length === 0 || this.#ports.stopwatch() - this.#begunAt < PORTION_MS) return;
    this.#portion = Math.max(MOST_UNDER_WAY, Math.floor(this.#portion / 2));
    this.#dropQueue();
  }

  #dropQueue(): void {
    for (const { due } of this.#queue.splice(0)) this.#busy.delete(due.subject);
  }

  #maySend(): boolean {
    const now = this.#ports.stopwatch();
    return !this.#isLost && !this.#isStopping && now >= this.#heldUntil && this.#lease.leftMs > LEAST_LEASE_MS;
  }

  #mayBegin(): boolean {
    if (!this.#maySend() || this.#queue.length > 0) return false;
    if (!this.isUnavailable) return this.#underWay.size < MOST_UNDER_WAY;
    return this.#underWay.size === 0 && this.#ports.stopwatch() >= this.#probeAt;
  }

  async #begin(): Promise<void> {
    const { clock, stopwatch, store, prepare } = this.#ports;
    const limit = this.isUnavailable ? 1 : this.#portion - this.#underWay.size;
    const begun = await store.begin({ targetId: this.#target.id, now: clock(), limit, busy: this.#busy }, this.#lease);
    if (begun === undefined) {
      this.#lose();
      return;
    }
    this.#begunAt = stopwatch();
    this.#hasMore = begun.length === limit;
    if (begun.length === 0) return;
    this.#number = Math.max(clock(), this.#number + 1);
    // Before the next portion begins: an older state never has the greater number.
    this.#queue = [...(await prepare(begun, this.#number))];
    for (const { due } of this.#queue) this.#busy.add(due.subject);
  }

  #sendQueued(): void {
    // It has become unavailable in the middle of a portion, or wants nothing for a while.
    if (!this.#maySend() || (this.isUnavailable && this.#queue.length > 1)) this.#dropQueue();
    while (this.#underWay.size < MOST_UNDER_WAY) {
      const prepared = this.#queue.shift();
      if (prepared === undefined) return;
      if (this.#hasMore && this.#queue.length === 0) this.#portion = Math.min(PORTION, this.#portion * 2);
      this.#attempt(prepared);
    }
  }

  #attempt(prepared: Prepared): void {
    const { due } = prepared;
    const interrupt = new AbortController();
    const sentAt = this.#ports.clock();
    const exchange: OpenExchange = {};
    const ended = this.#send(prepared, interrupt, exchange).then((end) => {
      this.#underWay.delete(ended);
      if (this.#isOver) return;
      const attempt = { due, end, logged: this.#logged(due, sentAt, exchange, end) };
      this.#ended.push(attempt);
      this.#ports.attemptEnded?.(attempt);
      this.#sendQueued();
      if (this.#isGone || this.#isBack || this.#isRecordDue()) this.#ports.wake?.();
    });
    this.#underWay.set(ended, interrupt);
  }

  /** @returns undefined if nothing was sent. */
  #logged(
    { attempts }: BegunDue,
    at: Instant,
    { isPending: _, ...exchange }: OpenExchange,
    end: Attempt,
  ): LoggedAttempt | undefined {
    const problem = end.ok ? undefined : end.problem;
    if (exchange.request === undefined && problem === undefined) return undefined;
    this.#attempts += 1;
    const durationMs = this.#ports.clock() - at;
    return { ...exchange, at, seq: this.#attempts, attempt: attempts + 1, problem, durationMs };
  }

  async #send(
    { due, send }: Prepared,
    interrupt: AbortController,
    exchange: OpenExchange,
  ): Promise<AcceptedAttempt | FailedAttempt> {
    const { clock, sleep } = this.#ports;
    const sentAt = clock();
    if (send === undefined) return { ok: true, sentAt, at: sentAt, waits: false };
    const timer = new AbortController();
    const late = sleep(GIVEN_UP_AFTER_MS, timer.signal).then((): Sent => {
      // The race is over.
      if (timer.signal.aborted) return { waits: false };
      interrupt.abort();
      throw new DeliveryFailed(`no answer within ${SENDING_LIMIT_MS / 1000} seconds`);
    });
    try {
      const { waits, rights } = await Promise.race([send(interrupt.signal, exchange), late]);
      this.#succeeded();
      return { ok: true, sentAt, at: clock(), waits, rights };
    } catch (error) {
      return this.#failed(due, this.#failureOf(error));
    } finally {
      timer.abort();
    }
  }

  #failureOf(error: unknown): DeliveryFailed {
    if (error instanceof DeliveryFailed) return error;
    this.#ports.log("warn", { target: this.#target.name, err: error }, "an event could not be sent");
    return new DeliveryFailed("an error of topupd's own: its log says more");
  }

  #succeeded(): void {
    if (this.isUnavailable) {
      this.#isBack = true;
      this.#ports.log("info", { target: this.#target.name }, "the target takes events again");
    }
    this.#failedInARow = 0;
    this.#tookAt = this.#ports.stopwatch();
  }

  #failed({ subject, attempts: before }: BegunDue, failure: DeliveryFailed): FailedAttempt {
    const { clock, stopwatch, random } = this.#ports;
    const { message: problem, isAnswer, retryAt = 0 } = failure;
    const now = clock();
    this.#hold(retryAt, now);
    this.#failedInARow += 1;
    this.#probeAt = stopwatch() + (isAnswer ? ANSWERING_PROBED_EVERY_MS : PROBED_EVERY_MS);
    const attempts = failuresAfter(before, stopwatch() - this.#tookAt);
    const isHopeless = attempts > before && attempts >= SET_ASIDE_AFTER && !this.#keeps(subject);
    const nextAt = nextAttempt(before + 1, now, random());
    this.#logFailure(problem, isHopeless);
    return {
      ok: false,
      attempts,
      isHopeless,
      retryAt: retryAt === Infinity ? nextAt : Math.max(nextAt, retryAt),
      problem,
    };
  }

  /** @param retryAt time before which the target wants nothing; Infinity if it is gone. */
  #hold(retryAt: Instant, now: Instant): void {
    if (retryAt === Infinity && this.#heldUntil < Infinity) {
      this.#isGone = true;
      const text = "the target answered 410 and is paused until staff resume it";
      this.#ports.log("warn", { target: this.#target.name }, text);
    }
    this.#heldUntil = Math.max(this.#heldUntil, this.#ports.stopwatch() + retryAt - now);
  }

  /** Billing keeps each fact until it is done. */
  #keeps(subject: string): boolean {
    return this.#target.billing && isFact(subject);
  }

  #logFailure(cause: string, isHopeless: boolean): void {
    const fields = { target: this.#target.name, cause };
    if (this.#failedInARow === UNAVAILABLE_AFTER) this.#ports.log("warn", fields, "the target takes no events");
    if (isHopeless) this.#ports.log("warn", fields, "an event is tried no more");
  }
}
