import type { WaitingDelivery } from "../domain/target.ts";
import type { Instant } from "../domain/wall-time.ts";
import type { SavedProgress } from "../store/outbox.ts";

export type ProgressChanges = Pick<SavedProgress, "place" | "waiting" | "done">;

/** How far the events that were read are done, and what of it the store was not told yet. */
export class DeliveryProgress {
  /** Since progress was saved: how many attempts came to an end. */
  ended = 0;
  /** Numbers of events that were read and are neither done nor among the waiting ones, with their times, in order. */
  readonly #open = new Map<number, Instant>();
  readonly #changed = new Map<number, WaitingDelivery>();
  readonly #done = new Set<number>();
  #lastRead: number;
  #savedPlace: number;

  /** @param place as the store has it. */
  constructor(place: number) {
    this.#lastRead = place;
    this.#savedPlace = place;
  }

  /** The number of the last event that was read. */
  get lastRead(): number {
    return this.#lastRead;
  }

  /** All up to here are done, or among the waiting ones. */
  get place(): number {
    const [firstOpen] = this.#open.keys();
    return firstOpen === undefined ? this.#lastRead : firstOpen - 1;
  }

  /** When the first event happened that is open. */
  get oldestOpen(): Instant | undefined {
    const [oldest] = this.#open.values();
    return oldest;
  }

  read(seq: number): void {
    this.#lastRead = seq;
  }

  open(seq: number, at: Instant): void {
    this.#open.set(seq, at);
  }

  /** It is done, or among the waiting ones. */
  close(seq: number): void {
    this.#open.delete(seq);
  }

  put(row: WaitingDelivery): void {
    this.#changed.set(row.seq, row);
  }

  /** It waits no more. */
  drop(seq: number): void {
    this.#changed.delete(seq);
    this.#done.add(seq);
  }

  /** Puts all that is open among the waiting ones, so that the place is beyond all that is done. */
  putBack(now: Instant): void {
    for (const seq of this.#open.keys()) this.put(untried(seq, now));
    this.#open.clear();
  }

  /** Undefined where there is no news. */
  changes(): ProgressChanges | undefined {
    const { place } = this;
    if (place === this.#savedPlace && this.#changed.size === 0 && this.#done.size === 0) return undefined;
    return { place, waiting: [...this.#changed.values()], done: [...this.#done] };
  }

  saved({ place, waiting, done }: ProgressChanges): void {
    this.#savedPlace = place;
    for (const row of waiting) if (this.#changed.get(row.seq) === row) this.#changed.delete(row.seq);
    for (const seq of done) this.#done.delete(seq);
  }
}

/** Due as soon as nothing of its connection is before it. */
export function untried(seq: number, now: Instant): WaitingDelivery {
  return { seq, attempts: 0, failedAt: undefined, nextAt: now, setAside: false, problem: undefined };
}
