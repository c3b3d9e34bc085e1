import type { RecordedEvent } from "../domain/event.ts";
import { type ToldUser, toldUser } from "../domain/sessions.ts";
import type { Target, WaitingDelivery } from "../domain/target.ts";
import type { Instant, Zone } from "../domain/wall-time.ts";
import type { Outbox } from "../store/outbox.ts";

/** News of the users of a RADIUS target that are not saved yet. */
export class ToldUsers {
  readonly #target: Target;
  readonly #zone: Zone;
  #told: ToldUser[] = [];

  constructor(target: Target, zone: Zone) {
    this.#target = target;
    this.#zone = zone;
  }

  /** Whether sessions wait for the next save. */
  get isUrgent(): boolean {
    return this.#told.some(({ alters, dueAt }) => alters && dueAt !== undefined);
  }

  /** Whether sessions have to end after an event. */
  isAltered(event: RecordedEvent): boolean {
    return this.#newsOf(event, undefined).some(({ alters }) => alters);
  }

  /** @param deliveredAt undefined if it failed. It counts too, since a later event may replace it. */
  tried(event: RecordedEvent, deliveredAt: Instant | undefined): void {
    this.#told.push(...this.#newsOf(event, deliveredAt));
  }

  /** The news, also of events that wait untried. */
  async changes(waiting: readonly WaitingDelivery[], outbox: Pick<Outbox, "eventsOf">): Promise<ToldUser[]> {
    const { config } = this.#target;
    const untried = waiting.filter(({ attempts }) => attempts === 0).map(({ seq }) => seq);
    if (config.kind !== "radius" || untried.length === 0) return [...this.#told];
    const events = await outbox.eventsOf(untried);
    return [...this.#told, ...events.flatMap((event) => this.#newsOf(event, undefined))];
  }

  saved(users: readonly ToldUser[]): void {
    this.#told = this.#told.filter((user) => !users.includes(user));
  }

  #newsOf(event: RecordedEvent, deliveredAt: Instant | undefined): ToldUser[] {
    const { config } = this.#target;
    const user = config.kind === "radius" ? toldUser(event, config, this.#zone) : undefined;
    if (config.kind !== "radius" || user === undefined) return [];
    const waitMs = (config.sessions?.waitSeconds ?? 0) * 1_000;
    return [{ ...user, dueAt: deliveredAt === undefined ? undefined : deliveredAt + waitMs }];
  }
}
