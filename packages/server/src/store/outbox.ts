import type { ConnectionKey } from "../domain/customer.ts";
import type { RecordedEvent } from "../domain/event.ts";
import type { Target, WaitingDelivery } from "../domain/target.ts";
import type { Instant, Moment, WallTime } from "../domain/wall-time.ts";

/*
 * The outbox: events are written in the transactions that make them happen, as long as there is a target, and kept until
 * every target has them. Every method rejects as those of the store do.
 */

/** What delivers asks of the store. Only whoever holds a lease may deliver to its target. */
export interface Outbox {
  /** Takes a lease that nobody holds, or holds it for longer. @returns whether it is this holder's now. */
  hold(lease: string, holder: string, now: Instant, until: Instant): Promise<boolean>;
  release(lease: string, holder: string): Promise<void>;
  targets(): Promise<Target[]>;
  place(targetId: number): Promise<number>;
  waiting(targetId: number): Promise<readonly WaitingDelivery[]>;
  /** Those after a number, in their order; at most `limit`. */
  eventsAfter(seq: number, limit: number): Promise<readonly RecordedEvent[]>;
  eventsOf(seqs: readonly number[]): Promise<readonly RecordedEvent[]>;
  /**
   * Writes down how far a target is, in one transaction.
   * @returns false, and nothing is written, where the lease is another's by now.
   */
  saveProgress(progress: SavedProgress): Promise<boolean>;
  /** Lets go of some events that every target has, or that are older than `before`. @returns how many. */
  forget(before: Instant): Promise<number>;
  /** Up to when on the wall clock ends were told of; undefined where none ever was. */
  endsToldUntil(): Promise<WallTime | undefined>;
  /** Connections with a subscription that ends in a span, of those after a connection in the order of their keys. */
  endsBetween(after: WallTime, until: WallTime, beyond: ConnectionKey | undefined): Promise<EndsPage>;
  /**
   * Writes an event for each of these connections that has, still, a subscription with this end, and up to when ends have
   * been told of. @param lease as for {@link saveProgress}.
   */
  tellEnds(ends: readonly ConnectionEnd[], now: Moment, lease: HeldLease): Promise<boolean>;
  lastEvent(): Promise<number>;
}

export interface HeldLease {
  readonly lease: string;
  readonly holder: string;
}

export interface SavedProgress extends HeldLease {
  readonly targetId: number;
  readonly place: number;
  /** To be inserted, or put in the place of what is there. */
  readonly waiting: readonly WaitingDelivery[];
  /** Numbers of those that wait no more. */
  readonly done: readonly number[];
}

export interface ConnectionEnd {
  readonly key: ConnectionKey;
  readonly end: WallTime;
}

/** What some thousand subscriptions come to. */
export interface EndsPage {
  readonly ends: readonly ConnectionEnd[];
  /** Beyond which to go on; undefined where there are no more. */
  readonly next: ConnectionKey | undefined;
}
