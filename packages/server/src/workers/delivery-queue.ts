import { type RecordedEvent, sequenceOf } from "../domain/event.ts";
import { type DeliveryFailed, isHopeless, nextAttempt, untried, type WaitingDelivery } from "../domain/target.ts";
import type { Instant } from "../domain/wall-time.ts";
import { DeliveryProgress } from "./delivery-progress.ts";
import type { Attempt, QueuedConnection } from "./queued-connection.ts";

/** Most open attempts. A connection has at most one. */
const MOST_UNDER_WAY = 32;
/** Most retries among them: new events continue while retries hang. */
const MOST_RETRIES = 16;
/** Number of new events that fail in a row until the target counts as unavailable. */
const UNAVAILABLE_AFTER = 32;
/** Pause between attempts at an unavailable target; the shorter one if the target answers with errors. */
const PROBED_EVERY_MS = 30_000;
const ANSWERING_PROBED_EVERY_MS = 1_000;
/** Below this number of new events in memory, more are read. */
const FEW_FRESH = 250;
/** How far reading may be ahead of the place, so that one hanging event does not delay the others. */
const MOST_AHEAD = 10_000;

type Failure = Pick<DeliveryFailed, "message" | "isAnswer"> & Partial<Pick<DeliveryFailed, "retryAt">>;

export interface QueueState {
  /** The saved place. */
  readonly place: number;
  /** Waiting events in order, without deleted ones. */
  readonly waiting: readonly { readonly row: WaitingDelivery; readonly event: RecordedEvent }[];
}

/** Decides which event of a target is sent next. Sends and reads nothing itself. */
export class DeliveryQueue {
  readonly progress: DeliveryProgress;
  readonly #keepsAll: boolean;
  /** A number from 0 to 1. */
  readonly #random: () => number;
  readonly #connections = new Map<string, QueuedConnection>();
  /** By connection: the last waiting event beyond the saved place. Events up to it were delivered or wait. */
  readonly #savedBefore = new Map<string, number>();
  /** Connections with waiting events. */
  readonly #failing = new Set<QueuedConnection>();
  /** Connections with new events, in order of arrival. Some may be busy or empty by now. */
  readonly #ready: QueuedConnection[] = [];
  #fresh = 0;
  #underWay = 0;
  #retries = 0;
  #failedInARow = 0;
  #lastSuccess: Instant | undefined;
  #nextProbe = 0;
  #probedEvery = PROBED_EVERY_MS;
  /** Time before which nothing is sent at all; Infinity if the target is gone. */
  #heldUntil: Instant = 0;

  constructor(keepsAll: boolean, { place, waiting }: QueueState, random: () => number) {
    this.#keepsAll = keepsAll;
    this.#random = random;
    this.progress = new DeliveryProgress(place);
    for (const { row, event } of waiting) {
      const connection = this.#connectionOf(event);
      this.#keep(connection, row, event.at);
      if (row.seq > place) this.#savedBefore.set(connection.name, row.seq);
    }
    // If the last events before the restart failed, the target is still unavailable.
    const isLast = ({ seq, attempts, setAside }: WaitingDelivery) =>
      seq > place - UNAVAILABLE_AFTER && attempts > 0 && !setAside;
    this.#failedInARow = waiting.filter(({ row }) => isLast(row)).length;
  }

  get isUnavailable(): boolean {
    return this.#failedInARow >= UNAVAILABLE_AFTER;
  }

  wantsMore(): boolean {
    const { lastRead, place } = this.progress;
    return this.#fresh < FEW_FRESH && lastRead - place < MOST_AHEAD;
  }

  /** @param events the events after `progress.lastRead`. */
  add(events: readonly RecordedEvent[], now: Instant): void {
    for (const event of events) {
      this.progress.read(event.seq);
      const connection = this.#connectionOf(event);
      if (event.seq <= (this.#savedBefore.get(connection.name) ?? 0)) continue;
      if (this.#keepsAll && connection.waiting.length > 0) this.#putBehind(connection, event, now);
      else {
        this.progress.open(event.seq, event.at);
        connection.fresh.push(event);
        this.#fresh += 1;
        if (connection.fresh.length === 1) this.#ready.push(connection);
      }
    }
  }

  /** @returns the next new event. The caller sends it and reports the result. */
  next(now: Instant): Attempt | undefined {
    const isTooEarly = now < this.#heldUntil || (this.isUnavailable && now < this.#nextProbe);
    if (isTooEarly || this.#underWay >= MOST_UNDER_WAY) return undefined;
    for (;;) {
      const connection = this.#ready.shift();
      if (connection === undefined) return undefined;
      if (connection.isUnderWay) continue;
      const event = connection.fresh.shift();
      if (event === undefined) continue;
      this.#fresh -= 1;
      this.#nextProbe = now + this.#probedEvery;
      const attempt = this.#begin({ event, connection, isRetry: false, number: 1 });
      // An event contains the whole state, so earlier failed ones are not needed. If a target gets all, nothing waits here.
      while (connection.waiting.length > 0) this.#dropFirst(connection);
      return attempt;
    }
  }

  /** @returns the numbers of due events, as many as may be retried now. */
  // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: its steps share the state of one pass
  due(now: Instant): number[] {
    const room = now < this.#heldUntil ? 0 : Math.min(MOST_RETRIES - this.#retries, MOST_UNDER_WAY - this.#underWay);
    const found: number[] = [];
    let earliest: WaitingDelivery | undefined;
    for (const connection of this.#failing) {
      if (found.length >= room) break;
      const row = connection.waiting[0]?.row;
      if (row === undefined || !this.#mayRetry(connection, row)) continue;
      if (row.nextAt <= now) found.push(row.seq);
      if (earliest === undefined || row.nextAt < earliest.nextAt) earliest = row;
    }
    const hasNone = found.length === 0 && this.#fresh === 0;
    const isProbe = hasNone && room > 0 && this.isUnavailable && now >= this.#nextProbe;
    if (!isProbe || earliest === undefined) return found;
    this.#nextProbe = now + this.#probedEvery;
    return [earliest.seq];
  }

  /** @returns an attempt for a due event, unless the queue has changed. */
  retry(event: RecordedEvent, now: Instant): Attempt | undefined {
    if (now < this.#heldUntil || this.#underWay >= MOST_UNDER_WAY) return undefined;
    const connection = this.#connections.get(sequenceOf(event));
    const row = connection?.waiting[0]?.row;
    if (connection === undefined || row?.seq !== event.seq || !this.#mayRetry(connection, row)) return undefined;
    this.#retries += 1;
    return this.#begin({ event, connection, isRetry: true, number: row.attempts + 1 });
  }

  /** Drops waiting events that were deleted. */
  forget(isForgotten: (row: WaitingDelivery) => boolean): void {
    for (const connection of [...this.#failing]) {
      const { waiting, isUnderWay } = connection;
      while (!isUnderWay && waiting[0] !== undefined && isForgotten(waiting[0].row)) this.#dropFirst(connection);
    }
  }

  /** @returns whether the target was unavailable until now. */
  succeeded(attempt: Attempt, now: Instant): boolean {
    const wasUnavailable = this.isUnavailable;
    this.#failedInARow = 0;
    this.#lastSuccess = now;
    this.progress.ended += 1;
    if (attempt.isRetry) this.#dropFirst(attempt.connection);
    else this.progress.close(attempt.event.seq);
    this.#end(attempt);
    if (wasUnavailable) this.#tryAllAgain(now);
    return wasUnavailable;
  }

  /** @returns the consequence, if it must be logged. */
  // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: its steps change the state of one attempt together
  failed(attempt: Attempt, failure: Failure, now: Instant): "gone" | "unavailable" | "set_aside" | undefined {
    const { message: problem, isAnswer, retryAt = 0 } = failure;
    const { event, connection, isRetry } = attempt;
    this.#probedEvery = isAnswer ? ANSWERING_PROBED_EVERY_MS : PROBED_EVERY_MS;
    const was = isRetry ? connection.waiting[0] : undefined;
    const attempts = (was?.row.attempts ?? 0) + 1;
    const failedAt = was?.row.failedAt ?? now;
    // A failure while nothing is delivered is the target's fault, not the event's.
    const gotThrough = !this.isUnavailable && this.#lastSuccess !== undefined && this.#lastSuccess >= failedAt;
    const setAside = gotThrough && isHopeless(failedAt, now);
    const isGone = retryAt === Infinity && this.#heldUntil < Infinity;
    this.progress.isGone ||= isGone;
    this.#heldUntil = Math.max(this.#heldUntil, retryAt);
    const nextAt = Math.max(nextAttempt(attempts, now, this.#random()), retryAt === Infinity ? 0 : retryAt);
    const row = { seq: event.seq, attempts, failedAt, nextAt, setAside, problem };
    this.progress.put(row);
    // After a graceful stop a later event may wait too: drop this one.
    if (was !== undefined && !this.#keepsAll && connection.waiting.length > 1) this.#dropFirst(connection);
    else if (was !== undefined) was.row = row;
    else {
      this.progress.close(event.seq);
      this.#keep(connection, row, event.at);
      if (this.#keepsAll) for (const each of this.#takeFresh(connection)) this.#putBehind(connection, each, now);
      this.#failedInARow += 1;
    }
    this.progress.ended += 1;
    this.#end(attempt);
    if (isGone || setAside) return isGone ? "gone" : "set_aside";
    // A failed retry is no news.
    return !isRetry && this.#failedInARow === UNAVAILABLE_AFTER ? "unavailable" : undefined;
  }

  /** Called at a graceful stop: open events are saved as waiting, and no delivered event is sent again. */
  putBack(now: Instant): void {
    if (!this.#keepsAll)
      for (const connection of this.#connections.values())
        while (connection.fresh.length > 0 && connection.waiting.length > 0) this.#dropFirst(connection);
    this.progress.putBack(now);
  }

  /** `oldestAt`: time of the oldest undelivered event that is still retried. */
  figures(): { readonly waiting: number; readonly setAside: number; readonly oldestAt: Instant | undefined } {
    const rows = [...this.#failing].flatMap(({ waiting }) => waiting);
    const tried = rows.filter(({ row }) => !row.setAside);
    const oldestAt = tried.reduce<Instant | undefined>(
      (oldest, { at }) => (oldest === undefined || at < oldest ? at : oldest),
      this.progress.oldestOpen,
    );
    return { waiting: tried.length, setAside: rows.length - tried.length, oldestAt };
  }

  /** A newer event is sent in place of the retry. */
  #mayRetry({ isUnderWay, fresh }: QueuedConnection, { setAside }: WaitingDelivery): boolean {
    return !isUnderWay && !setAside && fresh.length === 0;
  }

  #begin(attempt: Attempt): Attempt {
    attempt.connection.isUnderWay = true;
    this.#underWay += 1;
    return attempt;
  }

  #end({ connection, isRetry }: Attempt): void {
    connection.isUnderWay = false;
    this.#underWay -= 1;
    if (isRetry) this.#retries -= 1;
    if (connection.fresh.length > 0) this.#ready.push(connection);
    else this.#tidy(connection);
  }

  /** Called when the target is available again. Its failures do not count against the events. */
  #tryAllAgain(now: Instant): void {
    for (const { waiting } of this.#failing)
      for (const each of waiting)
        if (!each.row.setAside) each.row = { ...each.row, attempts: 0, failedAt: undefined, nextAt: now };
  }

  #takeFresh({ fresh }: QueuedConnection): RecordedEvent[] {
    this.#fresh -= fresh.length;
    for (const { seq } of fresh) this.progress.close(seq);
    return fresh.splice(0);
  }

  #putBehind(connection: QueuedConnection, { seq, at }: RecordedEvent, now: Instant): void {
    const row = untried(seq, now);
    this.progress.put(row);
    this.#keep(connection, row, at);
  }

  #keep(connection: QueuedConnection, row: WaitingDelivery, at: Instant): void {
    connection.waiting.push({ row, at });
    this.#failing.add(connection);
  }

  #dropFirst(connection: QueuedConnection): void {
    const first = connection.waiting.shift();
    if (first === undefined) return;
    this.progress.drop(first.row.seq);
    if (connection.waiting.length > 0) return;
    this.#failing.delete(connection);
    this.#tidy(connection);
  }

  #connectionOf(event: RecordedEvent): QueuedConnection {
    const name = sequenceOf(event);
    let connection = this.#connections.get(name);
    if (connection === undefined) {
      connection = { name, fresh: [], waiting: [], isUnderWay: false };
      this.#connections.set(name, connection);
    }
    return connection;
  }

  #tidy({ name, fresh, waiting, isUnderWay }: QueuedConnection): void {
    if (fresh.length === 0 && waiting.length === 0 && !isUnderWay) this.#connections.delete(name);
  }
}
