import { stepAfter } from "../domain/service-step.ts";
import {
  DeliveryFailed,
  type OpenExchange,
  SENDING_LIMIT_MS,
  type Sender,
  type Target,
  takesConnection,
} from "../domain/target.ts";
import type { Instant, Zone } from "../domain/wall-time.ts";
import { StoreUnavailable } from "../store/errors.ts";
import type { Outbox } from "../store/outbox.ts";
import type { DeliveryObserver } from "./delivery-observer.ts";
import type { DeliveryQueue } from "./delivery-queue.ts";
import { loadQueue } from "./load-queue.ts";
import type { Attempt } from "./queued-connection.ts";
import { ToldUsers } from "./told-users.ts";
import { Lease, type WorkerPorts } from "./worker.ts";

export interface DeliveryPorts extends WorkerPorts {
  readonly store: { readonly outbox: Outbox; readonly provider: { readonly zone: Zone } };
  /** Returns this many bytes that cannot be guessed. */
  readonly random: (bytes: number) => Uint8Array;
  readonly createSender: (target: Target) => Sender;
  /** Undefined: no metrics. */
  readonly observer?: DeliveryObserver | undefined;
}

/** Events read in one query. */
const PAGE = 500;
/** How often to check for new events. */
const LOOKED_EVERY_MS = 250;
const SAVED_EVERY_MS = 1_000;
/** This many ended attempts are saved at once. */
const MANY_ENDED = 300;
const OBSERVED_EVERY_MS = 1_000;
/** An attempt starts only if the lease lasts longer than the attempt can. */
const LEAST_LEASE_MS = SENDING_LIMIT_MS + 500;
/** A sender that keeps its own limit ends its attempts before this one. */
const GIVEN_UP_AFTER_MS = SENDING_LIMIT_MS + 250;
/** Time for open attempts at a stop. The next holder repeats the unfinished ones. */
const ENDING_MS = 5_000;

/**
 * Delivers to one target while this process holds its lease. The next holder continues from the saved progress, and may
 * repeat events that were sent since.
 * @throws Error if the store fails for longer than the lease lasts; the delivery has ended then.
 */
export async function deliverTo(target: Target, ports: DeliveryPorts, stopping: AbortSignal): Promise<void> {
  const { store, createSender, observer } = ports;
  const lease = new Lease(store.outbox, ports, `target:${target.id}`);
  if (!(await lease.take())) return;
  try {
    const queue = await loadQueue(target, { outbox: store.outbox, random: ports.random });
    const sender = createSender(target);
    const delivery = new TargetDelivery(target, ports, { lease, queue, sender, stopping });
    try {
      await delivery.run();
    } finally {
      try {
        await delivery.finish();
      } finally {
        await sender.close();
      }
    }
  } finally {
    observer?.targetObserved(target.name, undefined);
    await lease.release();
  }
}

interface DeliveryParts {
  readonly lease: Lease;
  readonly queue: DeliveryQueue;
  readonly sender: Sender;
  readonly stopping: AbortSignal;
}

class TargetDelivery {
  readonly #target: Target;
  readonly #ports: DeliveryPorts;
  readonly #parts: DeliveryParts;
  readonly #users: ToldUsers;
  /** The open attempts. */
  readonly #attempts = new Map<Promise<void>, AbortController>();
  #isLost = false;
  /** Whether the results of attempts are ignored. */
  #isOver = false;
  /** Whether there may be more events than were read. */
  #hasMore = true;
  /** Whether all events after the saved place were read once: an earlier process may have delivered some. */
  #isCaughtUp = false;
  /** Ends the pause before the next read of the store. */
  #pause = new AbortController();
  /** Times by the stopwatch. */
  #savedAt = 0;
  #observedAt = 0;

  constructor(target: Target, ports: DeliveryPorts, parts: DeliveryParts) {
    this.#target = target;
    this.#ports = ports;
    this.#parts = parts;
    this.#users = new ToldUsers(target, ports.store.provider.zone);
    parts.stopping.addEventListener("abort", () => this.#pause.abort());
  }

  async run(): Promise<void> {
    const { lease, stopping } = this.#parts;
    while (!stopping.aborted && !this.#isLost) {
      this.#pause = new AbortController();
      try {
        if (await lease.renew()) await this.#continue();
        else this.#isLost = true;
      } catch (error) {
        // While the store is briefly unavailable, the state in memory stays valid.
        if (!(error instanceof StoreUnavailable) || lease.leftMs <= 0) throw error;
        await this.#ports.sleep(LOOKED_EVERY_MS, stopping);
      }
    }
  }

  /** Waits for the open attempts and saves their results. */
  async finish(): Promise<void> {
    const { lease } = this.#parts;
    if (this.#isLost)
      this.#ports.log("warn", { target: this.#target.name }, "another process may deliver to the target");
    else {
      const ended = new AbortController();
      const late = this.#ports.sleep(ENDING_MS, ended.signal);
      await Promise.race([Promise.all(this.#attempts.keys()), late]);
      ended.abort();
    }
    this.#isOver = true;
    for (const attempt of this.#attempts.values()) attempt.abort();
    if (this.#isLost || lease.leftMs <= 0) return;
    this.#parts.queue.putBack(this.#ports.clock());
    await this.#save();
  }

  async #continue(): Promise<void> {
    const { progress } = this.#parts.queue;
    const isUrgent = progress.ended >= MANY_ENDED || this.#users.isUrgent;
    if (isUrgent || this.#isDue(this.#savedAt, SAVED_EVERY_MS)) await this.#save();
    await this.#read();
    // A newer event replaces the retry, also if it was delivered before a kill.
    if (this.#isCaughtUp || this.#target.billing) await this.#retry();
    this.#beginNew();
    this.#observe();
    if (!this.#readsOn()) await this.#ports.sleep(LOOKED_EVERY_MS, this.#pause.signal);
  }

  #isDue(last: number, everyMs: number): boolean {
    return this.#ports.stopwatch() - last >= everyMs;
  }

  async #save(): Promise<void> {
    const { lease, queue } = this.#parts;
    const changes = queue.progress.changes();
    this.#savedAt = this.#ports.stopwatch();
    queue.progress.ended = 0;
    if (changes === undefined) return;
    const { outbox } = this.#ports.store;
    const users = await this.#users.changes(changes.waiting, outbox);
    const held = { lease: lease.lease, holder: lease.holder };
    if (await outbox.saveProgress({ ...held, targetId: this.#target.id, ...changes, users })) {
      queue.progress.saved(changes);
      this.#users.saved(users);
    } else this.#isLost = true;
  }

  async #retry(): Promise<void> {
    const { queue } = this.#parts;
    const due = queue.due(this.#ports.clock());
    if (due.length === 0) return;
    const events = await this.#ports.store.outbox.eventsOf(due);
    const kept = new Set(events.map(({ seq }) => seq));
    queue.forget(({ seq }) => due.includes(seq) && !kept.has(seq));
    for (const event of events) {
      const attempt = this.#mayBegin() ? queue.retry(event, this.#ports.clock()) : undefined;
      if (attempt !== undefined) this.#begin(attempt);
    }
  }

  async #read(): Promise<void> {
    const { queue } = this.#parts;
    if (!queue.wantsMore()) return;
    const events = await this.#ports.store.outbox.eventsAfter(queue.progress.lastRead, PAGE);
    this.#hasMore = events.length === PAGE;
    this.#isCaughtUp ||= !this.#hasMore;
    queue.add(events, this.#ports.clock());
  }

  #readsOn(): boolean {
    return this.#hasMore && this.#parts.queue.wantsMore();
  }

  #observe(): void {
    const { observer } = this.#ports;
    if (observer === undefined || !this.#isDue(this.#observedAt, OBSERVED_EVERY_MS)) return;
    const now = this.#ports.clock();
    this.#observedAt = this.#ports.stopwatch();
    const { oldestAt = now, waiting, setAside } = this.#parts.queue.figures();
    observer.targetObserved(this.#target.name, { lagMs: Math.max(0, now - oldestAt), waiting, setAside });
  }

  #mayBegin(): boolean {
    const { stopping, lease } = this.#parts;
    return !stopping.aborted && !this.#isLost && !this.#isOver && lease.leftMs > LEAST_LEASE_MS;
  }

  #beginNew(): void {
    while (this.#mayBegin()) {
      const attempt = this.#parts.queue.next(this.#ports.clock());
      if (attempt === undefined) return;
      this.#begin(attempt);
    }
  }

  #begin(attempt: Attempt): void {
    const interrupt = new AbortController();
    const [at, exchange]: [Instant, OpenExchange] = [this.#ports.clock(), {}];
    const ended = this.#send(attempt, interrupt, exchange).then((failure) => {
      this.#attempts.delete(ended);
      if (this.#isOver) return;
      this.#log(attempt, at, exchange, failure?.message);
      this.#end(attempt, failure);
    });
    this.#attempts.set(ended, interrupt);
  }

  /** @returns the failure; undefined if the event was delivered. */
  async #send(
    { event }: Attempt,
    interrupt: AbortController,
    exchange: OpenExchange,
  ): Promise<DeliveryFailed | undefined> {
    const timer = new AbortController();
    const late = this.#ports.sleep(GIVEN_UP_AFTER_MS, timer.signal).then(() => {
      if (timer.signal.aborted) return;
      interrupt.abort();
      throw new DeliveryFailed(`no answer within ${SENDING_LIMIT_MS / 1000} seconds`);
    });
    try {
      await Promise.race([this.#parts.sender.send(event, interrupt.signal, exchange), late]);
      return undefined;
    } catch (error) {
      if (error instanceof DeliveryFailed) return error;
      this.#ports.log("warn", { target: this.#target.name, err: error }, "an event could not be sent");
      return new DeliveryFailed("an error of topupd's own: its log says more");
    } finally {
      timer.abort();
    }
  }

  #log(
    { event, connection, number }: Attempt,
    at: Instant,
    { isPending = false, ...exchange }: OpenExchange,
    problem: string | undefined,
  ): void {
    const endedAt = this.#ports.clock();
    const { progress } = this.#parts.queue;
    if (!("alert" in event) && takesConnection(this.#target, event.key)) {
      const step = stepAfter(event, { sentAt: at, endedAt, isPending, problem });
      progress.sent(connection.name, step);
      const isEnd = step.outcome === "done" && !this.#users.isAltered(event);
      if (isEnd) this.#ports.observer?.stepEnded(this.#target.name, endedAt - event.at);
    }
    if (exchange.request === undefined && problem === undefined) return;
    progress.log({ ...exchange, at, seq: event.seq, attempt: number, problem, durationMs: endedAt - at });
  }

  #end(attempt: Attempt, failure: DeliveryFailed | undefined): void {
    const { clock, log, observer } = this.#ports;
    const { queue } = this.#parts;
    const { name: target } = this.#target;
    this.#users.tried(attempt.event, failure === undefined ? clock() : undefined);
    observer?.deliveryEnded(target, failure === undefined ? "delivered" : "failed");
    if (failure === undefined) {
      if (queue.succeeded(attempt, clock())) log("info", { target }, "the target takes events again");
    } else {
      const consequence = queue.failed(attempt, failure, clock());
      if (consequence === "gone")
        log("warn", { target }, "the target answered 410 and is paused until staff resume it");
      if (consequence === "unavailable") log("warn", { target, cause: failure.message }, "the target takes no events");
      if (consequence === "set_aside") log("warn", { target, cause: failure.message }, "an event is tried no more");
    }
    this.#beginNew();
    if (attempt.isRetry || queue.progress.ended >= MANY_ENDED || this.#readsOn()) this.#pause.abort();
  }
}
