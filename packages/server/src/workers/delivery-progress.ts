import type { ServiceStep } from "../domain/service-step.ts";
import { type LoggedAttempt, MOST_LOGGED, untried, type WaitingDelivery } from "../domain/target.ts";
import type { Instant } from "../domain/wall-time.ts";
import type { SavedProgress } from "../store/outbox.ts";

export type ProgressChanges = Pick<SavedProgress, "place" | "waiting" | "done" | "steps" | "logged" | "isGone">;

/** Progress through the events that were read, and the changes not saved yet. */
export class DeliveryProgress {
  /** Number of attempts that ended since the last save. */
  ended = 0;
  /** Whether the target wants no more events, and this is not saved yet. */
  isGone = false;
  /** Events that were read and are neither done nor waiting: time by number, in order. */
  readonly #open = new Map<number, Instant>();
  readonly #changed = new Map<number, WaitingDelivery>();
  readonly #done = new Set<number>();
  /** The last event sent of each connection, by its name. */
  readonly #steps = new Map<string, ServiceStep>();
  /** The last attempts that are not saved yet. */
  #logged: LoggedAttempt[] = [];
  #lastRead: number;
  #savedPlace: number;

  /** @param place the saved place. */
  constructor(place: number) {
    this.#lastRead = place;
    this.#savedPlace = place;
  }

  /** The number of the last event that was read. */
  get lastRead(): number {
    return this.#lastRead;
  }

  /** All events up to here are done or waiting. */
  get place(): number {
    const [firstOpen] = this.#open.keys();
    return firstOpen === undefined ? this.#lastRead : firstOpen - 1;
  }

  /** Time of the oldest open event. */
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

  /** Called when the event is done or waiting. */
  close(seq: number): void {
    this.#open.delete(seq);
  }

  put(row: WaitingDelivery): void {
    this.#changed.set(row.seq, row);
  }

  /** Called when the event no longer waits. */
  drop(seq: number): void {
    this.#changed.delete(seq);
    this.#done.add(seq);
  }

  /** @param connection its name. */
  sent(connection: string, step: ServiceStep): void {
    const before = this.#steps.get(connection);
    this.#steps.set(connection, before?.seq === step.seq ? { ...step, sentAt: before.sentAt } : step);
  }

  log(attempt: LoggedAttempt): void {
    if (this.#logged.push(attempt) > MOST_LOGGED) this.#logged.shift();
  }

  /** Turns all open events into waiting ones, so that the place covers all events that are done. */
  putBack(now: Instant): void {
    for (const seq of this.#open.keys()) this.put(untried(seq, now));
    this.#open.clear();
  }

  /** Undefined if nothing changed. */
  changes(): ProgressChanges | undefined {
    const { place, isGone } = this;
    const isSaved = !isGone && place === this.#savedPlace && this.#changed.size === 0 && this.#done.size === 0;
    if (isSaved && this.#steps.size === 0 && this.#logged.length === 0) return undefined;
    const rows = { waiting: [...this.#changed.values()], done: [...this.#done], steps: [...this.#steps.values()] };
    return { place, isGone, ...rows, logged: this.#logged.slice() };
  }

  saved({ place, waiting, done, steps, logged, isGone }: ProgressChanges): void {
    // Staff may resume the target from now on.
    if (isGone) this.isGone = false;
    this.#savedPlace = place;
    for (const row of waiting) if (this.#changed.get(row.seq) === row) this.#changed.delete(row.seq);
    for (const seq of done) this.#done.delete(seq);
    const isSaved = new Set(steps);
    for (const [connection, step] of this.#steps) if (isSaved.has(step)) this.#steps.delete(connection);
    this.#logged = this.#logged.filter((attempt) => !logged.includes(attempt));
  }
}
