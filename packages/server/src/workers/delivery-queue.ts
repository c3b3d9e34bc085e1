import type { ConnectionKey } from "../domain/customer.ts";
import type { RecordedEvent } from "../domain/event.ts";
import { type DeliveryFailed, isHopeless, nextAttempt, type WaitingDelivery } from "../domain/target.ts";
import type { Instant } from "../domain/wall-time.ts";
import { DeliveryProgress, untried } from "./delivery-progress.ts";

/** Connections whose events are under way at a time. */
const MOST_UNDER_WAY = 32;
/** Of these, retries: while those hang, new events go on. */
const MOST_RETRIES = 16;
/** So many new events that fail in a row, and none that gets through: the target is away. */
const AWAY_AFTER = 32;
/** How often a target that is away is tried with a new event; and one that answers, though it takes nothing. */
const PROBED_EVERY_MS = 30_000;
const ANSWERING_PROBED_EVERY_MS = 1_000;
/** Less than this waits in memory: more is read. */
const FEW_FRESH = 250;
/** How far what has been read may be ahead of the place: a single event that hangs holds up no others. */
const MOST_AHEAD = 10_000;

type Failure = Pick<DeliveryFailed, "message" | "isAnswer">;

/** An event that is to be sent now. */
export interface Attempt {
  readonly event: RecordedEvent;
  readonly connection: QueuedConnection;
  readonly isRetry: boolean;
}

interface QueuedConnection {
  readonly name: string;
  /** Events that were not tried yet, in order. */
  readonly fresh: RecordedEvent[];
  /** What failed, and, for billing, what is behind it, in order. */
  readonly waiting: Waiting[];
  isUnderWay: boolean;
}

interface Waiting {
  row: WaitingDelivery;
  /** When the event happened. */
  readonly at: Instant;
}

export interface QueueState {
  /** How far it was, as the store has it. */
  readonly place: number;
  /** In order; without those whose event is no more. */
  readonly waiting: readonly { readonly row: WaitingDelivery; readonly event: RecordedEvent }[];
}

/** What one target is to be sent next, and how far it is. It sends nothing, and reads nothing. */
export class DeliveryQueue {
  readonly progress: DeliveryProgress;
  readonly #billing: boolean;
  /** From 0 to 1. */
  readonly #random: () => number;
  readonly #connections = new Map<string, QueuedConnection>();
  /** By connection: what waited beyond the place that was saved last. All up to there was taken, and is not to be sent again. */
  readonly #takenBefore = new Map<string, number>();
  /** Those where something waits. */
  readonly #failing = new Set<QueuedConnection>();
  /** Those with new events, first come first served; some are under way, or have none any more. */
  readonly #ready: QueuedConnection[] = [];
  #fresh = 0;
  #underWay = 0;
  #retries = 0;
  #failedInARow = 0;
  #lastSuccess: Instant | undefined;
  #nextProbe = 0;
  #probedEvery = PROBED_EVERY_MS;

  constructor(billing: boolean, { place, waiting }: QueueState, random: () => number) {
    this.#billing = billing;
    this.#random = random;
    this.progress = new DeliveryProgress(place);
    for (const { row, event } of waiting) {
      const connection = this.#connectionOf(event.key);
      this.#keep(connection, row, event.at);
      if (row.seq > place) this.#takenBefore.set(connection.name, row.seq);
    }
    // Whoever delivered before may have found the target away: then the very last have failed.
    const isLast = ({ seq, attempts, setAside }: WaitingDelivery) =>
      seq > place - AWAY_AFTER && attempts > 0 && !setAside;
    this.#failedInARow = waiting.filter(({ row }) => isLast(row)).length;
  }

  get isAway(): boolean {
    return this.#failedInARow >= AWAY_AFTER;
  }

  wantsMore(): boolean {
    const { lastRead, place } = this.progress;
    return this.#fresh < FEW_FRESH && lastRead - place < MOST_AHEAD;
  }

  /** Takes on what was read after `progress.lastRead`. */
  add(events: readonly RecordedEvent[], now: Instant): void {
    for (const event of events) {
      this.progress.read(event.seq);
      const connection = this.#connectionOf(event.key);
      if (event.seq <= (this.#takenBefore.get(connection.name) ?? 0)) continue;
      if (this.#billing && connection.waiting.length > 0) this.#putBehind(connection, event, now);
      else {
        this.progress.open(event.seq, event.at);
        connection.fresh.push(event);
        this.#fresh += 1;
        if (connection.fresh.length === 1) this.#ready.push(connection);
      }
    }
  }

  /** @returns the next new event whose turn it is. Whoever calls sends it, and says how it ended. */
  next(now: Instant): Attempt | undefined {
    if (this.#underWay >= MOST_UNDER_WAY || (this.isAway && now < this.#nextProbe)) return undefined;
    for (;;) {
      const connection = this.#ready.shift();
      if (connection === undefined) return undefined;
      if (connection.isUnderWay) continue;
      const event = connection.fresh.shift();
      if (event === undefined) continue;
      this.#fresh -= 1;
      this.#nextProbe = now + this.#probedEvery;
      const attempt = this.#begin({ event, connection, isRetry: false });
      // It holds the whole state, so that what failed before it is needless. For billing, nothing waits here.
      while (connection.waiting.length > 0) this.#dropFirst(connection);
      return attempt;
    }
  }

  /** @returns the numbers of events that waited long enough, as many as there is room for. */
  due(now: Instant): number[] {
    const room = Math.min(MOST_RETRIES - this.#retries, MOST_UNDER_WAY - this.#underWay);
    const found: number[] = [];
    let earliest: WaitingDelivery | undefined;
    for (const connection of this.#failing) {
      if (found.length >= room) break;
      const row = connection.waiting[0]?.row;
      if (row === undefined || !this.#mayRetry(connection, row)) continue;
      if (row.nextAt <= now) found.push(row.seq);
      if (earliest === undefined || row.nextAt < earliest.nextAt) earliest = row;
    }
    const isProbe = found.length === 0 && room > 0 && this.isAway && this.#fresh === 0 && now >= this.#nextProbe;
    if (!isProbe || earliest === undefined) return found;
    this.#nextProbe = now + this.#probedEvery;
    return [earliest.seq];
  }

  /** @returns an attempt for an event that was due, unless something has come between. */
  retry(event: RecordedEvent): Attempt | undefined {
    const connection = this.#connections.get(nameOf(event.key));
    const row = connection?.waiting[0]?.row;
    if (connection === undefined || row?.seq !== event.seq || !this.#mayRetry(connection, row)) return undefined;
    if (this.#underWay >= MOST_UNDER_WAY) return undefined;
    this.#retries += 1;
    return this.#begin({ event, connection, isRetry: true });
  }

  /** Lets go of what waited and is not on record any more. */
  forget(isForgotten: (row: WaitingDelivery) => boolean): void {
    for (const connection of [...this.#failing]) {
      const { waiting, isUnderWay } = connection;
      while (!isUnderWay && waiting[0] !== undefined && isForgotten(waiting[0].row)) this.#dropFirst(connection);
    }
  }

  /** @returns whether the target was away until now. */
  succeeded(attempt: Attempt, now: Instant): boolean {
    const wasAway = this.isAway;
    this.#failedInARow = 0;
    this.#lastSuccess = now;
    this.progress.ended += 1;
    if (attempt.isRetry) this.#dropFirst(attempt.connection);
    else this.progress.close(attempt.event.seq);
    this.#end(attempt);
    if (wasAway) this.#tryAllAgain(now);
    return wasAway;
  }

  /** @returns what became of it, where that is worth telling. */
  failed(attempt: Attempt, failure: Failure, now: Instant): "away" | "set_aside" | undefined {
    const { message: problem, isAnswer } = failure;
    const { event, connection, isRetry } = attempt;
    this.#probedEvery = isAnswer ? ANSWERING_PROBED_EVERY_MS : PROBED_EVERY_MS;
    const was = isRetry ? connection.waiting[0] : undefined;
    const attempts = (was?.row.attempts ?? 0) + 1;
    const failedAt = was?.row.failedAt ?? now;
    // What fails while nothing gets through fails for the target's sake.
    const gotThrough = !this.isAway && this.#lastSuccess !== undefined && this.#lastSuccess >= failedAt;
    const setAside = gotThrough && isHopeless(failedAt, now);
    const nextAt = nextAttempt(attempts, now, this.#random());
    const row = { seq: event.seq, attempts, failedAt, nextAt, setAside, problem };
    this.progress.put(row);
    // After an orderly end, a later one may wait too, and goes instead.
    if (was !== undefined && !this.#billing && connection.waiting.length > 1) this.#dropFirst(connection);
    else if (was !== undefined) was.row = row;
    else {
      this.progress.close(event.seq);
      this.#keep(connection, row, event.at);
      if (this.#billing) for (const each of this.#takeFresh(connection)) this.#putBehind(connection, each, now);
      this.#failedInARow += 1;
    }
    this.progress.ended += 1;
    this.#end(attempt);
    if (setAside) return "set_aside";
    // One that was tried before, and fails again, says nothing new.
    return !isRetry && this.#failedInARow === AWAY_AFTER ? "away" : undefined;
  }

  /** At an orderly end: what is not done waits on record, and nothing that is done is sent again after it. */
  putBack(now: Instant): void {
    if (!this.#billing)
      for (const connection of this.#connections.values())
        while (connection.fresh.length > 0 && connection.waiting.length > 0) this.#dropFirst(connection);
    this.progress.putBack(now);
  }

  /** `oldestAt`: when the oldest event happened that the target lacks, of those that are still tried. */
  figures(): { readonly waiting: number; readonly setAside: number; readonly oldestAt: Instant | undefined } {
    const rows = [...this.#failing].flatMap(({ waiting }) => waiting);
    const tried = rows.filter(({ row }) => !row.setAside);
    const oldestAt = tried.reduce<Instant | undefined>(
      (oldest, { at }) => (oldest === undefined || at < oldest ? at : oldest),
      this.progress.oldestOpen,
    );
    return { waiting: tried.length, setAside: rows.length - tried.length, oldestAt };
  }

  /** Where a newer event is ready, it goes instead. */
  #mayRetry({ isUnderWay, fresh }: QueuedConnection, { setAside }: WaitingDelivery): boolean {
    return !isUnderWay && !setAside && (this.isAway || fresh.length === 0);
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

  /** Once a target that was away is back. That it was is no fault of these. */
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

  #connectionOf(key: ConnectionKey): QueuedConnection {
    const name = nameOf(key);
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

/** Without the customer: where a connection moves to another one, what is said of it first is to arrive first. */
function nameOf({ environment, service, reqId }: ConnectionKey): string {
  return JSON.stringify([environment, service, reqId]);
}
