import { Temporal } from "temporal-polyfill";

/** A day without regard to the clocks being changed. */
export const DAY_MS = 24 * 60 * 60 * 1000;

/** A hundred years of days. */
const MOST_DAYS = 36_525;

/**
 * How far a zone's wall clock is ahead of UTC, remembered by the day. Asking the zone's rules costs some
 * microseconds, and the same days are asked for again and again.
 */
export class ZoneOffsets {
  readonly #timeZone: string;
  /** By the day in UTC; NaN for a day on which the clocks are changed. */
  readonly #byDay = new Map<number, number>();

  constructor(timeZone: string) {
    this.#timeZone = timeZone;
  }

  /** In milliseconds, at this very instant. */
  at(instant: number): number {
    const ofDay = this.#ofDay(Math.floor(instant / DAY_MS));
    return Number.isNaN(ofDay) ? this.#ask(instant) : ofDay;
  }

  /** As {@link at}, where it is the same from a day before to a day after; undefined otherwise. */
  steadyAround(instant: number): number | undefined {
    const day = Math.floor(instant / DAY_MS);
    const offset = this.#ofDay(day);
    return offset === this.#ofDay(day - 1) && offset === this.#ofDay(day + 1) ? offset : undefined;
  }

  #ofDay(day: number): number {
    const known = this.#byDay.get(day);
    if (known !== undefined) return known;
    const first = this.#ask(day * DAY_MS);
    const offset = first === this.#ask((day + 1) * DAY_MS - 1) ? first : Number.NaN;
    if (this.#byDay.size >= MOST_DAYS) this.#byDay.clear();
    this.#byDay.set(day, offset);
    return offset;
  }

  #ask(instant: number): number {
    const zoned = Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(this.#timeZone);
    return zoned.offsetNanoseconds / 1e6;
  }
}
