import type { Attribution } from "../domain/audit.ts";
import type { ConnectionKey } from "../domain/customer.ts";
import type { RecordedEvent } from "../domain/event.ts";
import type { Target, TargetConfig, WaitingDelivery } from "../domain/target.ts";
import type { Instant, Moment, WallTime } from "../domain/wall-time.ts";

/*
 * The outbox: events are written in the transactions that make them happen, as long as there is a target, and kept until
 * every target has them. Every method rejects as those of the store do.
 */

/** The targets, as staff set them up. Every change leaves an entry in the audit trail. */
export interface Targets {
  /** It begins with what is committed from now on; once this resolves, no change is committed that it does not hear of. */
  add(target: NewTarget, by: Attribution): Promise<Target | "name_taken">;
  find(name: string): Promise<Target | undefined>;
  list(): Promise<Target[]>;
  setPaused(name: string, paused: boolean, by: Attribution): Promise<Target | undefined>;
  /** Adds a webhook's new secret. */
  rotateSecret(name: string, secret: string, by: Attribution): Promise<Target | undefined>;
  /** Writes into the audit trail that what a target has is compared and corrected. */
  noteReconciling(name: string, by: Attribution): Promise<Target | undefined>;
  /** With all that it has not taken. */
  remove(name: string, by: Attribution): Promise<Target | undefined>;
  /** How far it is. */
  progress(id: number): Promise<TargetProgress>;
  /** What failed, or waits behind what did, with its events, oldest first. */
  waiting(id: number, limit: number): Promise<readonly (WaitingDelivery & { readonly event: RecordedEvent })[]>;
  /** Has all that waits, or was set aside, tried again now. @returns how many. */
  resend(id: number, by: Attribution): Promise<number>;
}

export type NewTarget = Pick<Target, "name" | "books" | "secrets"> & { readonly config: TargetConfig };

export interface TargetProgress {
  /** The number of the event up to which it has taken on each; what of these failed is among the waiting ones. */
  readonly place: number;
  /** How many events are behind its place. */
  readonly behind: number;
  readonly failing: number;
  readonly setAside: number;
  /** When the oldest event happened that it does not have; undefined where it has all. */
  readonly oldestAt: Instant | undefined;
}

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
  /** Moves the place of a feed, never back. */
  acknowledge(targetId: number, seq: number): Promise<void>;
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
