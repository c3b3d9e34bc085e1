import type { Instant } from "../domain/calendar.ts";
import { type ClockDoubt, doubtClock } from "../domain/clock-doubt.ts";
import type { StatedCustomer } from "../domain/customer-row.ts";
import type { CustomerEffect } from "../domain/import-effect.ts";
import { ClockInDoubt } from "./import-report.ts";
import type { StaffPorts } from "./ports.ts";

type Preview = (customers: readonly StatedCustomer[], at: Instant) => Promise<readonly CustomerEffect[]>;

/**
 * The clock of an import of customers, held against what is on record as that of `prune` is: what is over may be taken
 * back, and by a clock that is ahead everything is over. One that is behind takes nothing too early.
 */
export class ImportClock {
  readonly #preview: Preview;
  /** As far as it is believed: by then, what is over is over. */
  #believed: Instant | undefined;
  #now: Instant;

  private constructor(now: Instant, newest: Instant | undefined, preview: Preview) {
    this.#now = now;
    this.#believed = newest;
    this.#preview = preview;
  }

  static async begin({ store, clock }: StaffPorts, preview: Preview): Promise<ImportClock> {
    return new ImportClock(clock(), await store.retention.newestRecord(), preview);
  }

  get isInDoubt(): boolean {
    return this.#doubt() !== undefined;
  }

  /** @throws ClockInDoubt where the import would take time back that only the clock says to be over. */
  async judge(customers: readonly StatedCustomer[]): Promise<void> {
    const doubt = this.#doubt();
    if (doubt === undefined) return;
    const { newest = doubt.now } = doubt;
    const effects = await this.#preview(customers, doubt.now);
    if (effects.some(({ takesUntil }) => takesUntil !== undefined && takesUntil > newest))
      throw new ClockInDoubt(doubt);
  }

  /** With the next customers, of all of which nothing is taken that the clock was in doubt of: unless it is set meanwhile. */
  async goOn(now: Instant, customers: readonly StatedCustomer[]): Promise<void> {
    this.#believed = Math.max(this.#now, this.#believed ?? this.#now);
    this.#now = now;
    await this.judge(customers);
  }

  #doubt(): ClockDoubt | undefined {
    const doubt = doubtClock(this.#now, this.#believed);
    return doubt?.kind === "ahead" ? doubt : undefined;
  }
}
